Price = Struct.new(:cents, :currency)

Money = Struct.new(:cents, :currency) do
  def to_d
    BigDecimal(cents) / 100
  end

  def to_s
    format("%.2f %s", to_d, currency)
  end
end

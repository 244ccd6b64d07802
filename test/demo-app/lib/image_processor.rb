# Knows just enough about images to find their size.
class ImageProcessor
  SIGNATURES = { "\x89PNG".b => "PNG", "\xFF\xD8\xFF".b => "JPEG", "GIF8".b => "GIF" }.freeze

  class Unsupported < StandardError; end

  attr_reader :width, :height

  def initialize(bytes)
    @bytes = bytes
    @width, @height = dimensions
  end

  def format
    SIGNATURES.find { |signature, _| @bytes.start_with?(signature) }&.last
  end

  def resize(width, height)
    @width = width
    @height = height
  end

  def save(path)
    File.binwrite(path, @bytes)
  end

  private

  def dimensions
    case format
    when "PNG" then @bytes.unpack("@16NN")
    when "GIF" then @bytes.unpack("@6vv")
    else raise Unsupported, "cannot read the size of #{@bytes.byteslice(0, 8).inspect}"
    end
  end
end

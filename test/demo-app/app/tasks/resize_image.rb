class ResizeImage
  include Rage::Deferred::Task

  max_retries 3

  def perform(path, width:, height:, format: nil)
    # Bug: uploads are temporary files, gone by the time of a second attempt.
    image = ImageProcessor.new(File.binread(path))

    # Bug: a picture that is smaller than wanted makes this zero.
    ratio = image.height / height
    image.resize(width, image.width / ratio)
    image.save("#{path}.#{(format || image.format).downcase}")
  end
end

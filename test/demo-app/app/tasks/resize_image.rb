class ResizeImage
  include Rage::Deferred::Task

  max_retries 3

  def perform(path, width:, height:, format: nil)
    # Bug: uploads are temporary files, gone by the time of a second attempt.
    image = ImageProcessor.new(File.binread(path))

    scale = image.width / (image.height / height)
    image.resize(width, scale)
    image.save("#{path}.#{extension(image, format)}")
  end

  private

  def extension(image, format)
    # Bug: the format of an unknown file is nil.
    (format || image.format).downcase
  end
end

# frozen_string_literal: true

# A second reader and writer of the storage directory, written from the format's rules alone and in Ruby, as the application's
# workers are. Takes one request a line as JSON on stdin and answers each with a line of JSON on stdout; bytes travel as base64.

require "base64"
require "json"
require "zlib"

class LockTimeout < StandardError; end

# What stands for the classes that a context names: their instances are data here.
module Loading
  def self.context(bytes)
    Marshal.load(bytes)
  rescue ArgumentError => e
    name = e.message[/undefined class\/module ([A-Z][\w:]*?)(::)?\z/, 1] or raise
    name.split("::").inject(Object) do |scope, part|
      scope.const_defined?(part, false) ? scope.const_get(part) : scope.const_set(part, Class.new)
    end
    retry
  end
end

class Store
  ATTEMPTS = 20
  CHUNK = 64 * 1024

  def initialize(path, prefix)
    @path = path
    @prefix = prefix.end_with?("-") ? prefix : "#{prefix}-"
    @data = File.join(path, "#{@prefix}dead_tasks-0")
    @lock = File.join(path, "#{@prefix}dead_tasks.lock")
  end

  def create
    Dir.mkdir(@path) unless Dir.exist?(@path)
    [@data, @lock].each { |file| File.open(file, File::RDWR | File::CREAT, 0o644) {} }
    sync_directory
  end

  def locked
    File.open(@lock, File::RDWR | File::CREAT, 0o644) do |file|
      attempt = 1
      until file.flock(File::LOCK_EX | File::LOCK_NB)
        raise LockTimeout, "#{@lock} stayed locked" if attempt == ATTEMPTS
        sleep([0.01 * attempt, 0.1].min)
        attempt += 1
      end
      yield
    end
  end

  def line(record)
    log_line("dead_task:#{record[:id]}:#{Marshal.dump(record).dump}")
  end

  def add(record)
    create
    bytes = line(record)
    locked do
      File.open(@data, "r+b") do |file|
        mend_tail(file)
        file.seek(0, IO::SEEK_END)
        file.syswrite(bytes)
        file.fsync
      end
    end
  end

  def list
    snapshot = locked { File.exist?(@data) ? File.binread(@data) : "".b }
    found = {}
    snapshot.each_line do |bytes|
      id, dumped = parse(bytes)
      record = dumped && read_record(dumped)
      next unless record
      found.delete(id)
      found[id] = record
    end
    found.values
  end

  def remove(ids)
    return [] if ids.empty?
    removed = {}
    locked do
      next unless File.exist?(@data)
      staging = "#{@data}.tmp"
      File.open(staging, "wb", File.stat(@data).mode & 0o7777) do |copy|
        File.open(@data, "rb").each_line do |bytes|
          id, = parse(bytes)
          next if id.nil?
          ids.include?(id) ? removed[id] = true : copy.write(bytes)
        end
        copy.fsync unless removed.empty?
      end
      if removed.empty?
        File.unlink(staging)
      else
        File.rename(staging, @data)
        sync_directory
      end
    end
    removed.keys
  end

  # As a starting worker reads them, one log after the other in name order.
  def pending
    logs.flat_map { |log| waiting(log).values.map { |task| task.merge(log: File.basename(log)) } }
  end

  # As a worker that starts, runs what nobody else holds, and ends. The new ids of what it ran.
  def run_pending
    logs.flat_map do |path|
      File.open(path, "r+b") do |log|
        next [] unless log.flock(File::LOCK_EX | File::LOCK_NB) == 0
        next [] unless File.exist?(path) && File.stat(path).ino == log.stat.ino
        ids = waiting(path).keys
        log.seek(0, IO::SEEK_END)
        ids.each { |id| log.write(log_line("rem:#{id}")) }
        log.fsync
        File.unlink(path)
        ids
      end
    rescue Errno::ENOENT
      []
    end
  end

  def logs
    Dir.glob(File.join(@path, "#{@prefix}0-*")).sort
  end

  # The tasks of one log, by id.
  def waiting(log)
    {}.tap do |tasks|
      File.binread(log).each_line do |bytes|
        next unless bytes.end_with?("\n") && bytes[8] == ":" && bytes[0, 8] == format("%08x", Zlib.crc32(bytes[9..-2]))
        operation, id, time, dumped = bytes[9..-2].split(":", 4)
        if operation == "rem"
          tasks.delete(id)
        elsif operation == "add"
          tasks[id] = { id: id, publish_at: time == "0" ? nil : Integer(time, 10), context: undump(dumped) }
        end
      end
    end
  end

  def log_line(payload)
    payload = payload.b
    "#{format('%08x', Zlib.crc32(payload))}:#{payload}\n"
  end

  def undump(dumped)
    dumped.dup.force_encoding(Encoding::US_ASCII).undump.b
  end

  private

  def parse(bytes)
    return unless bytes.end_with?("\n") && bytes[8] == ":"
    payload = bytes[9..-2]
    return unless bytes[0, 8] == format("%08x", Zlib.crc32(payload))
    operation, id, dumped = payload.split(":", 3)
    [id, dumped] if operation == "dead_task" && dumped && !id.empty?
  end

  def read_record(dumped)
    record = Marshal.load(undump(dumped))
    record if record.is_a?(Hash) && record[:context].is_a?(String)
  rescue ArgumentError, TypeError, RuntimeError, EOFError
    nil
  end

  def mend_tail(file)
    size = file.size
    position = size
    while position.positive?
      start = [position - CHUNK, 0].max
      file.seek(start)
      newline = file.read(position - start).rindex("\n")
      if newline
        keep = start + newline + 1
        file.truncate(keep) if keep < size
        return
      end
      position = start
    end
    file.truncate(0) if size.positive?
  end

  def sync_directory
    File.open(@path, &:fsync)
  end
end

class Peer
  def initialize(store)
    @store = store
  end

  def answer(request)
    case request.fetch("do")
    when "add" then @store.add(record(request.fetch("task"))) && nil
    when "line" then Base64.strict_encode64(@store.line(record(request.fetch("task"))))
    when "create" then @store.create && nil
    when "list" then @store.list.map { |task| described(task) }
    when "remove" then @store.remove(request.fetch("ids"))
    when "pending" then @store.pending.map { |task| described_pending(task) }
    when "hold" then hold(request.fetch("seconds"))
    when "crowd" then crowd(request)
    when "claim" then claim(request.fetch("log"))
    when "start" then start
    when "perform" then perform(request.fetch("id"), request.fetch("outcome"))
    when "ping" then "pong"
    else raise ArgumentError, "unknown request #{request['do']}"
    end
  end

  private

  # As a starting worker claims a log: the lock is held until this process ends. Whether it could be had.
  def claim(log)
    @claimed = File.open(log, "r+b")
    @claimed.flock(File::LOCK_EX | File::LOCK_NB) == 0
  end

  # As a starting worker: claims the logs that nobody holds and appends all but the first of them to that. The ids that wait in it.
  def start
    logs = @store.logs.filter_map do |path|
      file = File.open(path, "r+b")
      file.flock(File::LOCK_EX | File::LOCK_NB) == 0 ? file : file.close
    end
    @own, *others = logs
    return [] unless @own
    others.each do |log|
      append(log.read)
      File.unlink(log.path)
      log.close
    end
    @store.waiting(@own.path).keys
  end

  # What a worker writes once it has tried a task of its log.
  def perform(id, outcome)
    task = @store.waiting(@own.path).fetch(id)
    context = Loading.context(task[:context])
    case outcome
    when "run" then append(@store.log_line("rem:#{id}"))
    when "fail"
      context[3] = (context[3] || 0) + 1
      append(@store.log_line("add:#{id}:#{Time.now.to_i + 3600}:#{Marshal.dump(context).dump}"))
    when "die"
      @store.add(
        id: id, task_class: context[0].name, attempts: 1, enqueued_at: id.to_i, failed_at: Time.now.to_i,
        exception_class: "Timeout::Error", exception_message: "the gateway is still away", backtrace: [], context: task[:context]
      )
      append(@store.log_line("rem:#{id}"))
    else raise ArgumentError, "unknown outcome #{outcome}"
    end
    nil
  end

  def append(bytes)
    @own.seek(0, IO::SEEK_END)
    @own.write(bytes)
    @own.flush
  end

  # With the encodings that Rage's own values have: names of classes in US-ASCII, the rest in UTF-8, the context binary.
  def record(task)
    {
      id: task.fetch("id"),
      task_class: class_name(task.fetch("task_class")),
      attempts: task.fetch("attempts"),
      enqueued_at: task.fetch("enqueued_at"),
      failed_at: task.fetch("failed_at"),
      exception_class: class_name(task.fetch("exception_class")),
      exception_message: text(task.fetch("exception_message")),
      backtrace: task.fetch("backtrace").first(20).map { |frame| text(frame) },
      context: Base64.strict_decode64(task.fetch("context")),
    }
  end

  def class_name(name)
    name && (name.ascii_only? ? name.dup.force_encoding(Encoding::US_ASCII) : name)
  end

  # Each a String of its own, since Marshal links an object that it meets again.
  def text(value)
    value.dup
  end

  def described(task)
    task.merge(
      exception_message: Base64.strict_encode64(task[:exception_message]),
      backtrace: task[:backtrace].map { |frame| Base64.strict_encode64(frame) },
      context: Base64.strict_encode64(task[:context]),
      encodings: [task[:task_class], task[:exception_message], task[:context]].map { |value| value.encoding.name },
    )
  end

  def described_pending(task)
    context = Loading.context(task[:context])
    task.merge(
      context: Base64.strict_encode64(task[:context]),
      task_class: context[0].name,
      attempts: context[3],
      args_inspect: context[1].inspect,
      kwargs_inspect: context[2].inspect,
    )
  end

  def hold(seconds)
    @store.locked do
      notice("held")
      sleep(seconds)
    end
    nil
  end

  # Adds and removes at random for a while. Ids end in a digit that says what may be done with the task: 0 nothing, 1 remove.
  # A worker also runs what waits in the logs.
  def crowd(request)
    random = Random.new(request.fetch("seed"))
    result = { added: [], removed: [], ran: [], timeouts: 0 }
    finish = now + request.fetch("seconds")
    while now < finish
      begin
        if request["worker"] && random.rand < 0.1
          result[:ran].concat(@store.run_pending)
        elsif random.rand < 0.5
          id = "1767225637-#{Process.pid}-#{result[:added].size}#{random.rand(3)}"
          @store.add(record(request.fetch("task").merge("id" => id)))
          result[:added] << id
        else
          removable = @store.list.map { |task| task[:id] }.select { |id| id.end_with?("1") }
          result[:removed].concat(@store.remove(removable.sample(2, random: random))) unless removable.empty?
        end
      rescue LockTimeout
        result[:timeouts] += 1
      end
      sleep(random.rand * 0.04)
    end
    result
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def notice(name)
    puts JSON.generate(notice: name)
  end
end

$stdout.sync = true
path, prefix = ARGV
peer = Peer.new(Store.new(path, prefix))
$stdin.each_line do |text|
  request = JSON.parse(text)
  begin
    puts JSON.generate(sequence: request["sequence"], ok: true, value: peer.answer(request))
  rescue StandardError => e
    puts JSON.generate(sequence: request["sequence"], ok: false, code: e.class.name, message: e.message)
  end
end

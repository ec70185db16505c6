/// The standard error of a program as lines for the log: truncated, and rate-limited per second. Pure.
struct DiagnosticLines {
    static let maximumLineLength = 1_000
    static let linesPerSecond = 50

    private var line: [UInt8] = []
    private var isCut = false
    private var second: Int64 = .min
    private var count = 0
    /// Lines dropped since ``drainDropped(now:)``.
    private var dropped = 0

    /// Returns the completed lines that may be logged. `now` is in milliseconds.
    mutating func append(_ bytes: some Sequence<UInt8>, now: Int64) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            guard byte != UInt8(ascii: "\n") else {
                if let line = finish(now: now) { lines.append(line) }
                continue
            }
            if line.count < Self.maximumLineLength { line.append(byte) } else { isCut = true }
        }
        return lines
    }

    /// Returns the unfinished line; nil if it is empty or above the rate limit.
    mutating func finish(now: Int64) -> String? {
        defer {
            line.removeAll(keepingCapacity: true)
            isCut = false
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty else { return nil }
        if now / 1000 != second {
            second = now / 1000
            count = 0
        }
        count += 1
        guard count <= Self.linesPerSecond else {
            dropped += 1
            return nil
        }
        return String(decoding: line, as: UTF8.self) + (isCut ? "…" : "")
    }

    /// Returns the number of lines dropped since the last call; 0 while lines are still being dropped.
    mutating func drainDropped(now: Int64) -> Int {
        guard now / 1000 != second else { return 0 }
        defer { dropped = 0 }
        return dropped
    }
}

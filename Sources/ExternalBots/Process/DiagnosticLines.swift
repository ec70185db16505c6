/// What a program writes to standard error, as lines for the log: cut, and not more than so many a second. Pure.
struct DiagnosticLines {
    static let longestLine = 1_000
    static let linesPerSecond = 50

    private var line: [UInt8] = []
    private var isCut = false
    private var second: Int64 = .min
    private var count = 0
    /// Lines that were left out since ``takeLeftOut()``.
    private var leftOut = 0

    /// The lines that are completed, those that may be logged. `now` is in milliseconds.
    mutating func take(_ bytes: some Sequence<UInt8>, now: Int64) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            guard byte != UInt8(ascii: "\n") else {
                if let line = finish(now: now) { lines.append(line) }
                continue
            }
            if line.count < Self.longestLine { line.append(byte) } else { isCut = true }
        }
        return lines
    }

    /// The line that has no end yet; nil if it is empty or one too many.
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
            leftOut += 1
            return nil
        }
        return String(decoding: line, as: UTF8.self) + (isCut ? "…" : "")
    }

    /// How many lines were left out since the last time; 0 as long as lines are still left out.
    mutating func takeLeftOut(now: Int64) -> Int {
        guard now / 1000 != second else { return 0 }
        defer { leftOut = 0 }
        return leftOut
    }
}

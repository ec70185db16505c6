import ProcessSupport

/// The standard error of a program as lines for the log: truncated, and rate-limited per second. Pure.
struct DiagnosticLines {
    static let maximumLineLength = 1_000
    static let linesPerSecond = 50

    private var assembler = LineAssembler(limit: Self.maximumLineLength, overlong: .truncated)
    private var second: Int64 = .min
    private var count = 0
    /// Lines dropped since ``drainDropped(now:)``.
    private var dropped = 0

    /// Returns the completed lines that may be logged. `now` is in milliseconds.
    mutating func append(_ bytes: some Collection<UInt8>, now: Int64) -> [String] {
        var pieces: [LineAssembler.Piece] = []
        assembler.append(bytes) { pieces.append($0) }
        return pieces.compactMap { admit($0, now: now) }
    }

    /// Returns the unfinished line; nil if it is empty or above the rate limit.
    mutating func finish(now: Int64) -> String? {
        var last: LineAssembler.Piece?
        assembler.finish { last = $0 }
        return last.flatMap { admit($0, now: now) }
    }

    private mutating func admit(_ piece: LineAssembler.Piece, now: Int64) -> String? {
        let text = piece.text
        guard !text.isEmpty else { return nil }
        if now / 1000 != second {
            second = now / 1000
            count = 0
        }
        count += 1
        guard count <= Self.linesPerSecond else {
            dropped += 1
            return nil
        }
        if case .tooLong = piece { return text + "…" }
        return text
    }

    /// Returns the number of lines dropped since the last call; 0 while lines are still being dropped.
    mutating func drainDropped(now: Int64) -> Int {
        guard now / 1000 != second else { return 0 }
        defer { dropped = 0 }
        return dropped
    }
}

/// Splits a byte stream into lines at LF, and drops a CR before it. Truncates overlong lines, so that a worker cannot
/// exhaust the supervisor's memory.
struct LineSplitter {
    private let limit: Int
    private var line: [UInt8] = []

    init(limit: Int = 256 * 1024) {
        self.limit = limit
    }

    /// Returns the lines that `bytes` completes.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> [String] {
        var lines: [String] = []
        for part in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0 { lines.append(flush()) }
            line.append(contentsOf: part.element.prefix(limit - line.count))
        }
        return lines
    }

    /// Returns the last line, if the stream ended without LF.
    mutating func finish() -> String? {
        line.isEmpty ? nil : flush()
    }

    private mutating func flush() -> String {
        defer { line.removeAll(keepingCapacity: true) }
        return String(decoding: line.last == 0x0D ? line.dropLast() : line[...], as: UTF8.self)
    }
}

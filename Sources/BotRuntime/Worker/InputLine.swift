import Foundation

/// A line read from a blocking descriptor.
enum InputLine: Equatable, Sendable {
    case text([UInt8])
    /// A line longer than the limit, whose bytes were discarded.
    case tooLong

    /// Reads to the end on this thread and passes on each line without its line feed, including an unterminated last
    /// line.
    static func readAll(of descriptor: Int32, limit: Int, _ handOver: (InputLine) -> Void) {
        var line: [UInt8] = []
        var isTooLong = false
        var buffer = [UInt8](repeating: 0, count: 65_536)
        func finish() {
            handOver(isTooLong ? .tooLong : .text(line))
            line = []
            isTooLong = false
        }
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            for (number, part) in buffer[..<count].split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
            {
                if number > 0 { finish() }
                isTooLong = isTooLong || line.count + part.count > limit
                if !isTooLong { line += part }
            }
        }
        if !line.isEmpty || isTooLong { finish() }
    }
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension LineAssembler {
    /// Reads a blocking descriptor to its end on this thread, and calls `body` for each line, including an unterminated
    /// last one. A read error counts as the end.
    package static func readLines(of descriptor: Int32, limit: Int, _ body: (Piece) -> Void) {
        var assembler = LineAssembler(limit: limit)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            assembler.append(buffer[..<count], body)
        }
        assembler.finish(body)
    }
}

/// Parser of a `Range` header with one range (RFC 9110 §14.2).
enum ByteRange {
    /// The whole file: no range, or an unsupported one, which may be ignored.
    case whole
    case part(start: Int, length: Int)
    case unsatisfiable

    init(_ header: String?, of size: Int) {
        self = .whole
        guard let header, header.hasPrefix("bytes="), !header.contains(",") else { return }
        let ends = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return }
        // A number that overflows Int is past the end of the file too.
        let first = ends[0].isEmpty ? nil : Int(ends[0]) ?? .max
        let last = ends[1].isEmpty ? nil : Int(ends[1]) ?? .max
        switch (first, last) {
        case (nil, nil): return
        case (nil, let suffix?):
            self =
                suffix == 0 || size == 0
                ? .unsatisfiable : .part(start: max(0, size - suffix), length: min(size, suffix))
        case (let first?, let last):
            if let last, last < first { return }
            guard first < size else {
                self = .unsatisfiable
                return
            }
            self = .part(start: first, length: min(last ?? .max, size - 1) - first + 1)
        }
    }
}

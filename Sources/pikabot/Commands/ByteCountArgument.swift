import ArgumentParser

/// A positive number of bytes: `500MiB`, `16GiB`, or without a unit.
struct ByteCountArgument: ExpressibleByArgument, Equatable {
    let bytes: Int64

    init?(argument: String) {
        let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)]
        let unit = units.first { argument.hasSuffix($0.0) }
        let digits = argument.dropLast(unit?.0.count ?? 0)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits) else {
            return nil
        }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << Int64(unit?.1 ?? 0))
        guard !overflow, bytes > 0 else { return nil }
        self.bytes = bytes
    }
}

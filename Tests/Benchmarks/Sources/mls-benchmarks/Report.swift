import Foundation

/// One measured operation beside its floor and the peer's figure, in milliseconds of CPU time.
struct Row: Encodable {
    let operation: String
    let median, minimum: Double
    let floor: Double
    let peer: Double?
    /// A limit that the project set itself.
    let target: Double?
    let repetitions: Int
    var perSecond: Double { 1000 / self.median }
    var overFloor: Double { self.minimum / self.floor }
    var meetsTarget: Bool { self.target.map { self.minimum <= $0 } ?? true }
    var beatsPeer: Bool { self.peer.map { self.minimum < $0 } ?? true }
}

struct Report: Encodable {
    let floor: [String: Double]
    private(set) var rows: [Row] = []

    init(_ floor: Floor) {
        self.floor = [
            "ed25519_sign": floor.sign, "ed25519_verify": floor.verify, "x25519": floor.agreement,
            "x25519_base_point": floor.basePoint, "sha256_64": floor.hash64, "sha256_byte": floor.hashByte,
            "sha512_byte": floor.hash512Byte,
            "aes128gcm_128": floor.gcm128, "aes128gcm_byte": floor.gcmByte,
        ]
    }

    mutating func add(_ operation: String, _ timing: Timing, floor: Double, peer: Double?, target: Double? = nil) {
        let row = Row(
            operation: operation, median: timing.median, minimum: timing.minimum, floor: floor, peer: peer,
            target: target, repetitions: timing.repetitions)
        self.rows.append(row)
        Self.emit(Self.line(row))
    }

    static let header = """
        | operation | median ms | minimum ms | per second | floor ms | x floor | \(Peer.name) ms | gain | verdict |
        | --- | --- | --- | --- | --- | --- | --- | --- | --- |
        """

    static func line(_ row: Row) -> String {
        let peer = row.peer.map(Self.number) ?? "-"
        let faster = row.peer.map { Self.number($0 / row.minimum) + "x" } ?? "-"
        let verdict = (row.beatsPeer ? "" : "slower than peer ") + (row.meetsTarget ? "ok" : "over target")
        return
            "| \(row.operation) | \(Self.number(row.median)) | \(Self.number(row.minimum)) | \(Int(row.perSecond)) "
            + "| \(Self.number(row.floor)) | \(Self.number(row.overFloor))x | \(peer) | \(faster) | \(verdict) |"
    }

    /// Writes a line at once, so that a long run can be watched.
    static func emit(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// Three significant digits.
    static func number(_ value: Double) -> String {
        value >= 100
            ? String(Int(value.rounded())) : String(format: value >= 10 ? "%.1f" : value >= 1 ? "%.2f" : "%.4f", value)
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(self)
    }
}

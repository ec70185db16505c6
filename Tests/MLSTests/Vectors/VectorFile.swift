import Foundation
import Testing

@testable import MLS

/// The MLS working group's vectors, located through `MLS_TEST_VECTORS` or next to the checkout.
enum VectorFile {
    static let directory: URL? = {
        let candidates = [
            ProcessInfo.processInfo.environment["MLS_TEST_VECTORS"].map { URL(fileURLWithPath: $0) },
            URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../shared/mls-vectors").standardized,
        ]
        return candidates.compactMap { $0 }.first {
            FileManager.default.fileExists(atPath: $0.appendingPathComponent("tree-math.json").path)
        }
    }()

    static var isPresent: Bool { self.directory != nil }

    static func load<Vector: Decodable>(_ name: String, as type: Vector.Type) throws -> [Vector] {
        let directory = try #require(self.directory)
        let data = try Data(contentsOf: directory.appendingPathComponent(name + ".json"))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode([Vector].self, from: data)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips with a reason if the official vectors are not available.
    static var needsVectors: Self {
        .enabled(if: VectorFile.isPresent, "set MLS_TEST_VECTORS to the folder with the official MLS vectors")
    }
}

/// Bytes written as hex in JSON.
struct HexBytes: Decodable, Hashable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let bytes = Self.decode(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hex")
        }
        self.bytes = bytes
    }

    static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        func value(_ digit: UInt8) -> UInt8? {
            switch digit {
            case 0x30...0x39: digit - 0x30
            case 0x61...0x66: digit - 0x57
            case 0x41...0x46: digit - 0x37
            default: nil
            }
        }
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    var secret: Secret { Secret(self.bytes) }
}

/// A suite's number in a vector; nil for the two suites that this library does not support.
func supportedSuite(_ number: UInt16) -> CipherSuite? {
    CipherSuite.supported.first { $0.rawValue == number }
}

func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}

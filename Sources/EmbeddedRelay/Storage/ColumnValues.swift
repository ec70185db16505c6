import Foundation
import Nostr

extension EventID {
    var data: Data { Data(bytes) }
}

extension PublicKey {
    var data: Data { Data(bytes) }
}

extension String {
    /// UTF-8 bytes, because SQLite text would end at the first zero byte.
    var data: Data { Data(utf8) }

    /// The number that represents this tag name in the index; nil for names other than one ASCII letter.
    var indexedTagName: Int? {
        guard utf8.count == 1, let byte = utf8.first, byte.isASCIILetter else { return nil }
        return Int(byte)
    }
}

extension Data {
    func precedes(_ other: Data) -> Bool { lexicographicallyPrecedes(other) }
}

extension UInt8 {
    fileprivate var isASCIILetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}

import Crypto
import Foundation

/// A random token of 256 bits: of a one-time link, a session or its forms.
struct ConsoleToken: Sendable, Hashable {
    /// 64 hexadecimal digits.
    let text: String

    init(using generator: inout some RandomNumberGenerator) {
        var text = ""
        for _ in 0..<4 {
            let digits = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
            text += String(repeating: "0", count: 16 - digits.count) + digits
        }
        self.text = text
    }

    /// The form in which tokens are kept: whoever reads the memory or times a comparison learns no token.
    static func fingerprint(_ text: String) -> Data { Data(SHA256.hash(data: Data(text.utf8))) }
}

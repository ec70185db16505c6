/// How large a gift wrap becomes: NIP-44 pads in steps and twice, so the size grows in leaps.
extension GiftWrap {
    /// The bytes of a wrap's JSON around a rumor of this many bytes of JSON, without extra tags; nil if NIP-44 holds
    /// the rumor or its seal no more.
    public static func wrapBytes(aroundRumorOf rumorBytes: Int) -> Int? {
        guard let seal = payloadLength(rumorBytes), let wrap = payloadLength(sealFrame + seal) else { return nil }
        return wrapFrame + wrap
    }

    /// The largest rumor, in bytes of JSON, whose wrap has at most `eventBytes` bytes; nil asks for NIP-44's own limit.
    public static func largestRumor(inWrapOf eventBytes: Int? = nil) -> Int {
        var (fits, tooMuch) = (0, NIP44.maximumPlaintext + 1)
        while tooMuch - fits > 1 {
            let middle = (fits + tooMuch) / 2
            if let size = wrapBytes(aroundRumorOf: middle), size <= eventBytes ?? .max {
                fits = middle
            } else {
                tooMuch = middle
            }
        }
        return fits
    }

    /// Characters of the Base64 payload; nil if the text is too long.
    private static func payloadLength(_ plaintext: Int) -> Int? {
        guard plaintext <= NIP44.maximumPlaintext else { return nil }
        // Version, nonce, length, padded text, code.
        let bytes = 1 + 32 + 2 + NIP44.paddedLength(plaintext) + 32
        return (bytes + 2) / 3 * 4
    }

    // Around the content: 64 digits of id, 64 of the author, 128 of the signature, and for a wrap 64 of the recipient.
    private static let sealFrame =
        #"{"id":"","pubkey":"","created_at":1700000000,"kind":13,"tags":[],"content":"","sig":""}"#.utf8.count + 256
    private static let wrapFrame =
        #"{"id":"","pubkey":"","created_at":1700000000,"kind":1059,"tags":[["p",""]],"content":"","sig":""}"#
        .utf8.count + 320
}

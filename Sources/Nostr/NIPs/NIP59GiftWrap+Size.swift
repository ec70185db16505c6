/// Sizes of gift wraps, which grow in steps, because NIP-44 pads in steps and a wrap encrypts twice.
extension GiftWrap {
    /// Returns the size in bytes of a wrap's JSON for a rumor whose JSON has `rumorBytes` bytes, without extra tags;
    /// nil if the rumor or its seal exceeds NIP-44's limit.
    public static func wrapBytes(aroundRumorOf rumorBytes: Int) -> Int? {
        guard let seal = payloadLength(rumorBytes), let wrap = payloadLength(sealFrame + seal) else { return nil }
        return wrapFrame + wrap
    }

    /// Returns the largest rumor, in bytes of JSON, whose wrap has at most `eventBytes` bytes; nil means NIP-44's own
    /// limit.
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

    /// Returns the length of the Base64 payload in characters; nil if the text is too long.
    private static func payloadLength(_ plaintext: Int) -> Int? {
        guard plaintext <= NIP44.maximumPlaintext else { return nil }
        // Version, nonce, length prefix, padded text, MAC.
        let bytes = 1 + 32 + 2 + NIP44.paddedLength(plaintext) + 32
        return (bytes + 2) / 3 * 4
    }

    // JSON around the content: 64 digits of id, 64 of author, 128 of signature, and for a wrap 64 of recipient.
    private static let sealFrame =
        #"{"id":"","pubkey":"","created_at":1700000000,"kind":13,"tags":[],"content":"","sig":""}"#.utf8.count + 256
    private static let wrapFrame =
        #"{"id":"","pubkey":"","created_at":1700000000,"kind":1059,"tags":[["p",""]],"content":"","sig":""}"#
        .utf8.count + 320
}

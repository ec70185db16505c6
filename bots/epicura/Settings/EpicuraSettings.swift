import Appliance
import BotKit

/// The settings of the bot under `with:`, docs/epicura/bot.md.
struct EpicuraSettings: Sendable {
    /// `http://` or `https://`, host and port, without a slash at the end.
    let cloud: String
    let localNetwork: Bool
    let language: Language
    /// Name of the IANA database.
    let timeZone: String
    /// Minutes from a reminder to the meal.
    let remindBefore: Int
    /// The pairing program and its arguments; empty for none.
    let pairing: [String]
    /// Bytes of pictures of recipes on disk.
    let imageBytes: Int
    let stepPictures: Bool

    /// Throws ``BotSettingsError`` with all problems.
    init(_ settings: BotSettings) throws(BotSettingsError) {
        let reader = SettingsReader(settings)
        cloud =
            reader.parsed(
                "cloud", expected: "an https:// address without a path, or http:// of this machine",
                fix: "write cloud: https://api.example", required: true
            ) { $0.stringValue.flatMap(Self.address) } ?? ""
        localNetwork = reader.bool("localNetwork", default: true)
        language =
            reader.parsed("language", expected: "one of en, hi, ta", fix: "write language: en") {
                $0.stringValue.flatMap { Language(parsing: $0) }
            } ?? .english
        timeZone =
            reader.parsed("timeZone", expected: "a time zone such as Asia/Kolkata", fix: "write timeZone: UTC") {
                $0.stringValue.flatMap { (try? MealPlan(zone: $0)) == nil ? nil : $0 }
            } ?? "UTC"
        remindBefore = reader.int("remindBefore", in: 0...1_440, default: 60)
        pairing = reader.strings("pairing") ?? []
        imageBytes = reader.int("imageBytes", in: 0...(128 << 20), default: 64 << 20)
        stepPictures = reader.bool("stepPictures", default: true)
        try reader.finish()
    }

    /// The address without a slash at its end; nil unless it is one of a cloud.
    private static func address(_ text: String) -> String? {
        let text = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard let end = text.firstRange(of: "://") else { return nil }
        let host = text[end.upperBound...]
        guard NetworkAddress.isPlain(host) else { return nil }
        switch text[..<end.lowerBound] {
        case "https": return text
        case "http": return ["localhost", "127.0.0.1", "[::1]"].contains(NetworkAddress.name(host)) ? text : nil
        default: return nil
        }
    }
}

/// Syntax of `HOST` and `HOST:PORT`.
enum NetworkAddress {
    /// Whether nothing in the text can end the host of a URL.
    static func isPlain(_ text: some StringProtocol) -> Bool {
        (1...120).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: Array(".-:[]".utf8).contains(byte)
                }
            }
    }

    /// The host without the port.
    static func name(_ text: some StringProtocol) -> String {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") { return String(text[...end]) }
        return String(text.prefix { $0 != ":" })
    }
}

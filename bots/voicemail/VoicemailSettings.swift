import BotKit

/// The settings under `with:`.
struct VoicemailSettings: Sendable {
    /// The length of a recording from which on it is posted.
    static let shortest: Duration = .seconds(1)
    /// The bytes of a greeting: almost three minutes of a call of Pika.
    static let longestGreeting = 16 << 20
    /// The bytes of a transcript.
    static let longestText = 16 << 10

    let greeting: String?
    let longest: Duration
    let transcribe: [String]?
    let patience: Duration
    let chat: ChatID?

    /// Throws ``BotSettingsError`` with all problems.
    init(_ settings: BotSettings) throws(BotSettingsError) {
        let reader = SettingsReader(settings)
        greeting = reader.string("greeting")
        longest = reader.duration("longest", default: .seconds(20))
        transcribe = reader.strings("transcribe")
        patience = reader.duration("patience", default: .seconds(20))
        chat = reader.string("chat").map { ChatID(rawValue: $0) }
        if longest < .seconds(2) || longest > .seconds(600) {
            reader.fail("longest", expected: "2s to 10m", fix: "write longest: 1m")
        }
        if transcribe?.isEmpty == true {
            reader.fail("transcribe", expected: "a program and its arguments", fix: "write transcribe: [./transcribe]")
        }
        try reader.finish()
    }
}

import BotKit

/// A message that another bot must answer, or must ignore.
struct AnswerCheck: Sendable, Hashable {
    enum Expectation: Sendable, Hashable {
        /// An answer that contains this text must arrive in time; case is ignored.
        case answer(String)
        case silence
    }

    let name: String
    let text: String
    /// The account that must answer, or stay silent; nil for any member.
    let from: PublicKey?
    let expectation: Expectation
    /// The time to wait for an answer.
    let time: Duration

    /// Parses a check; nil, with problems in the reader, if it is invalid.
    init?(_ reader: SettingsReader, number: Int, peers: [GroupSettings.Peer], every: Duration) {
        name = reader.string("name", default: "check\(number)")
        let text = reader.string("send", required: true)
        from = reader.parsed("from", expected: "the name of a peer or an npub", fix: "name one of the peers") { value in
            value.stringValue.flatMap { word in
                peers.first { $0.name == word }?.account ?? (try? PublicKey(parsing: word))
            }
        }
        let (answer, within) = (reader.string("answer"), reader.duration("within"))
        let silence = reader.duration("silence")
        if !SettingsReader.isLabel(name) {
            reader.fail(
                "name", expected: "a name of 1 to 32 letters, digits, dots, - and _", fix: "choose another name")
        }
        switch (answer, silence) {
        case (let answer?, nil): (expectation, time) = (.answer(answer), within ?? .seconds(5))
        case (nil, let silence?): (expectation, time) = (.silence, silence)
        default:
            reader.fail(
                nil, expected: "either answer or silence", fix: "write answer: TEXT, or silence: 5s")
            return nil
        }
        if silence != nil, within != nil {
            reader.fail("within", expected: "within only together with answer", fix: "remove it")
        }
        if time >= every {
            reader.fail(
                nil, expected: "a time shorter than checksEvery", found: time.configurationText,
                fix: "use a shorter time")
        }
        guard let text else { return nil }
        self.text = text
    }
}

/// Identifies a load message by its content.
///
/// `load SENDER SEQUENCE`, padded with dots. Agents are numbered, and each counts its messages in a group.
struct MessageStamp: Hashable, Sendable {
    let sender: Int
    /// Starts at 0 for each sender and group.
    let sequence: Int

    /// - Parameter bytes: The length of the text; it is longer if the numbers need more.
    func text(bytes: Int) -> String {
        let head = "load \(sender) \(sequence) "
        return head + String(repeating: ".", count: max(0, bytes - head.utf8.count))
    }

    init(sender: Int, sequence: Int) {
        (self.sender, self.sequence) = (sender, sequence)
    }

    /// Parses a message; nil for any other text.
    init?(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 3)
        guard words.count >= 3, words[0] == "load", let sender = Int(words[1]), let sequence = Int(words[2]),
            sender >= 0, sequence >= 0
        else { return nil }
        self.init(sender: sender, sequence: sequence)
    }
}

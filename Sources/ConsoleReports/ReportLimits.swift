/// Bounds of the reports that workers send for the operator's console.
///
/// A worker applies them before it encodes a report, so that an account with many chats, or a member with a huge name,
/// cannot delay the line between worker and supervisor.
package enum ReportLimits {
    package static let relays = 64
    package static let chats = 200
    package static let invitations = 50
    package static let bots = 64
    package static let members = 200
    package static let proposals = 50
    package static let commits = 100
    package static let messages = 50
    package static let entries = 200
    package static let samples = 2_000
    /// Unicode scalars of a name; of a reason or description; of the text of a message.
    package static let name = 200
    package static let sentence = 1_000
    package static let content = 4_000
}

extension String {
    /// The beginning of the text, cut to a number of Unicode scalars: a single character may have any number of them.
    package func limited(to scalars: Int) -> String {
        // The number of UTF-8 bytes is an upper bound that is known at once.
        guard utf8.count > scalars else { return self }
        let view = unicodeScalars
        guard let end = view.index(view.startIndex, offsetBy: scalars, limitedBy: view.endIndex), end != view.endIndex
        else { return self }
        return String(view[..<end]) + "…"
    }
}

import Daemon

extension ExternalBot {
    /// The values of `reason` in `bot_inbox_given_up_total` for events that a program does not get.
    package static let givenUpReasons = DeadLetter.allCases.map { $0.rawValue }
}

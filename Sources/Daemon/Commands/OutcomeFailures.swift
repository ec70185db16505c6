import Nostr
import PikaCore

/// Maps failed outcomes and errors of the core to errors for clients (docs/daemon.md).
extension DaemonFailure {
    static let coreTimeout = DaemonFailure(.runtimeError, "the core did not answer in time")

    /// Returns the error for a failed command that changes members; a nil outcome is a timeout.
    static func membership(_ outcome: ActionOutcome?) -> DaemonFailure {
        guard let outcome else {
            return DaemonFailure(.publishFailed, "no relay answered in time; the change stays queued")
        }
        guard case .failed(let error) = outcome else {
            return DaemonFailure(.runtimeError, "unexpected outcome of the action")
        }
        let code: Code =
            switch error.code {
            case .unknownChat, .ambiguousChat: .badGroupID
            case .noKeyPackage: .noKeyPackages
            case .noRelay: .fetchFailed
            case .refused: .publishFailed
            case .displaced, .contested: .mergeFailed
            case .notAllowed, .busy, .overtaken: .mdkError
            default: .runtimeError
            }
        return DaemonFailure(code, error.message)
    }

    /// Returns the error for a group that was created although some invitations failed.
    static func invitationsFailed(_ left: [PublicKey: InviteFailure]) -> DaemonFailure {
        let reasons = left.map { "\($0.key.hex): \($0.value)" }.sorted().joined(separator: "; ")
        return DaemonFailure(.publishFailed, "the group was created, but the invitation failed: \(reasons)")
    }

    static func message(_ error: AppCoreError) -> DaemonFailure {
        let code: Code =
            switch error.code {
            case .unknownChat: .badGroupID
            case .noMediaServer, .mediaFailed, .badAddress: .uploadFailed
            default: .publishFailed
            }
        return DaemonFailure(code, error.message)
    }

    static func profile(_ error: AppCoreError) -> DaemonFailure {
        let isUpload = [.mediaFailed, .noMediaServer].contains(error.code)
        return DaemonFailure(isUpload ? .uploadFailed : .mdkError, error.message)
    }

    static func call(_ error: AppCoreError, _ action: AppAction) -> DaemonFailure {
        let code: Code =
            switch error.code {
            case .busy: .busy
            case .unknownCall: .notFound
            case .notAllowed: if case .acceptCall = action { .authFailed } else { .runtimeError }
            default: .runtimeError
            }
        return DaemonFailure(code, error.message)
    }

    /// Whether the error of this command goes to standard output, whichever client sent the command.
    func isForStandard(_ command: DaemonCommand) -> Bool {
        switch command {
        case .react, .submitHypernoteAction:
            [.badEventID, .badEmoji, .badAction, .badGroupID].contains(self.code)
        case .sendTyping: self.code == .publishFailed
        default: false
        }
    }
}

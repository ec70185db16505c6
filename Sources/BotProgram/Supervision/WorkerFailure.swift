package import ArgumentParser
import BotConfiguration
import BotRuntime
import Errors
import Nostr
import PikaCore
import Storage

/// The reason why a worker ended, as an exit status for the supervisor and a message for operators.
package struct WorkerFailure {
    package let status: ExitCode
    package let message: String

    package init(_ error: any Error) {
        switch error {
        case let error as AppCoreError where error.code == .superseded:
            self.init(.laterCopy, error.message)
        case let error as WorkerError: self.init(error)
        case let error as StoreError: self.init(Self.status(error), error.description)
        case let error as ConfigurationError: self.init(.wrongConfiguration, error.description)
        default: self.init(.failure, String(describing: error))
        }
    }

    private init(_ status: ExitCode, _ message: String) {
        self.status = status
        self.message = message
    }

    private init(_ error: WorkerError) {
        let status: ExitCode =
            switch error.code {
            case .unknownAccount: .wrongConfiguration
            case .unknownBot, .badSettings: .badBot
            case .noKey: .noKey
            case .signerRefused: .signerRefused
            case .noStateDirectory: .temporaryFailure
            default: .failure
            }
        self.init(status, error.description)
    }

    private static func status(_ error: StoreError) -> ExitCode {
        switch error.code {
        case .locked: .stateInUse
        case .wrongKey, .wrongAccount, .newerFormat, .corrupt, .invalidKey: .stateUnusable
        case .diskFull, .permission, .io: .temporaryFailure
        default: .failure
        }
    }

    /// The line for a supervisor, which records it as the reason of the exit.
    var line: String {
        let object: JSONObject = ["status": "failed", "message": .string(message)]
        return JSONValue.object(object).jsonText
    }
}

package import ArgumentParser

extension ExitCode {
    /// `status`: an account is not ready.
    package static let notReady = ExitCode(2)
    /// Operator commands: no supervisor runs.
    package static let notRunning = ExitCode(3)
    /// `EX_TEMPFAIL` of sysexits.h: the environment must be fixed first, such as a full disk or a state directory
    /// without write permission. A worker is restarted until it is.
    package static let temporaryFailure = ExitCode(75)
    /// `EX_CONFIG` of sysexits.h: the configuration file is invalid; running it again does not help.
    package static let wrongConfiguration = ExitCode(78)
    /// A later copy of the account was started elsewhere: this one must not be restarted automatically.
    package static let laterCopy = ExitCode(79)
    /// The account's key could not be loaded.
    package static let noKey = ExitCode(80)
    /// A bot is unknown, or rejects its settings.
    package static let badBot = ExitCode(81)
    /// The account's remote signer refuses this client.
    package static let signerRefused = ExitCode(82)
    /// Another process uses the state directory.
    package static let stateInUse = ExitCode(83)
    /// The state is damaged, belongs to another account or key, or was written by a newer version.
    package static let stateUnusable = ExitCode(84)

    /// The statuses after which restarting a worker does not help, and the reasons.
    package static let finalStatuses: [Int32: String] = [
        wrongConfiguration.rawValue: "the configuration file is invalid",
        laterCopy.rawValue: "a later copy of the account runs elsewhere",
        noKey.rawValue: "the account's key could not be loaded",
        badBot.rawValue: "a bot is unknown or rejects its settings",
        signerRefused.rawValue: "the account's remote signer refused the client",
        stateInUse.rawValue: "another process uses the state directory",
        stateUnusable.rawValue: "the stored state is unusable",
    ]
}

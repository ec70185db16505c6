package import ArgumentParser

extension ExitCode {
    /// `EX_CONFIG` of sysexits.h: the configuration file is wrong; running it again will not help.
    package static let wrongConfiguration = ExitCode(78)
    /// A later copy of the account was started elsewhere: this one must not be started again by itself.
    package static let laterCopy = ExitCode(79)
}

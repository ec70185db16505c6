package import ConsolePages
package import ConsoleReports

/// What the console's server reads and requests: implemented by the program that runs the accounts.
///
/// Every method returns values of bounded size (``ConsoleReports/ReportLimits``) without secrets. A method that asks a
/// worker has its own deadline of a few seconds, so that a hanging worker cannot hold up a page. Names of accounts,
/// bots, chats and invitations come from browsers: an unknown one gets an error, never a trap.
package protocol ConsoleBackend: Sendable {
    // MARK: State

    /// The newest state of the program.
    func snapshot() async -> ConsoleSnapshot

    /// The numbers (``ConsolePages/ConsoleSnapshot/rev``) of new snapshots, in rising order. A reader that is slow may
    /// miss numbers, but never the newest. Ends when the program ends or the reader is cancelled.
    func changes() -> AsyncStream<UInt64>

    /// The worker's report of an account. Throws `ConsoleError.Code.unavailable` with the reason in words: the account
    /// is unknown, or its worker does not run or answer.
    func account(_ name: String) async throws(ConsoleError) -> AccountReport

    /// A chat with its time line. Throws as ``account(_:)``, also for an unknown chat.
    func chat(_ id: String, of account: String) async throws(ConsoleError) -> ChatDetail

    // MARK: Questions

    /// The fates of an event or of a time span, for the account of the query or for all: one answer for each account
    /// asked, in the order of the snapshot. A worker that does not answer gives its answer's `failure`, as does a query
    /// that is invalid.
    func why(_ query: WhyPage.Query) async -> [WhyPage.Answer]

    /// Returns the newest log lines that pass the filter and have a number above `number`, oldest first, at most
    /// `limit`. Numbers rise from 1 with each line of the program.
    func logs(_ filter: LogsPage.Filter, after number: Int, limit: Int) async -> [LogLine]

    /// The numbers of new log lines, in rising order; the newest is never missed. Ends as ``changes()``.
    func logChanges() -> AsyncStream<Int>

    /// The results of scheduled probes, by account.
    func probes() async -> [LoadPage.Probes]

    /// The newest load reports of the configured folder, newest first.
    func loadReports() async -> [LoadPage.Report]

    // MARK: Configuration

    /// The configuration in force, and what a reload of the file would change. Throws
    /// `ConsoleError.Code.unavailable` if the file cannot be read.
    func configuration() async throws(ConsoleError) -> ConsoleConfigurationState

    /// Returns the changes that a text in place of the file would make, or its problems. Saves nothing.
    func validate(_ text: String) async -> ConfigurationPage.Preview

    // MARK: Actions

    /// Performs an action, and adds it with its outcome to ``ConsolePages/ConsoleSnapshot/actions``, which raises the
    /// snapshot's number. The server has checked the viewer's role.
    ///
    /// Returns when the outcome is known, or when the action is begun if it takes longer than a few seconds (a restart
    /// that drains). Throws `ConsoleError.Code.unavailable` with the reason in words.
    func perform(_ action: ConsoleAction, by viewer: Viewer) async throws(ConsoleError)
}

/// The configuration in force, and the difference of the file.
package struct ConsoleConfigurationState: Sendable, Hashable {
    /// YAML with all defaults, without secrets.
    package var effective: String
    package var preview: ConfigurationPage.Preview

    package init(effective: String, preview: ConfigurationPage.Preview) {
        self.effective = effective
        self.preview = preview
    }
}

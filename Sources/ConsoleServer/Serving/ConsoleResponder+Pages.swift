import ConsolePages

/// A page with the number of the state that it shows.
struct RenderedPage: Sendable {
    var page: Page
    var rev: UInt64
    /// Unix seconds.
    var now: Int64

    init(_ page: Page, _ snapshot: ConsoleSnapshot) {
        self.page = page
        // The page of logs follows the lines, whose numbers rise on their own.
        rev = page.cursor.map { UInt64(clamping: $0) } ?? snapshot.rev
        now = snapshot.takenAt
    }

    func document(for viewer: Viewer) -> HTML { page.document(for: viewer, rev: rev, now: now) }
}

extension ConsoleResponder {
    /// Renders a page; nil for an unknown account, and for what is not a page.
    func render(_ target: ConsoleTarget, for viewer: Viewer) async -> RenderedPage? {
        let snapshot = await backend.snapshot()
        switch target.route {
        case .overview: return RenderedPage(OverviewPage(snapshot).page(for: viewer), snapshot)
        case .account(let name): return await account(name, snapshot, viewer)
        case .chat(let account, let id): return await chat(id, of: account, snapshot, viewer)
        case .why: return await why(target.query, snapshot, viewer)
        case .logs: return await logs(target.query, snapshot, viewer)
        case .configuration: return await configuration(nil, for: viewer)
        case .load: return await load(snapshot, viewer)
        case .validation, .action, .events, .login, .keyLogin, .logout, .asset: return nil
        }
    }

    private func account(_ name: String, _ snapshot: ConsoleSnapshot, _ viewer: Viewer) async -> RenderedPage? {
        guard let status = snapshot.account(name) else { return nil }
        var page = AccountPage(snapshot, status: status, report: nil)
        do throws(ConsoleError) { page.report = try await backend.account(name) } catch {
            page.silence = error.message
        }
        return RenderedPage(page.page(for: viewer), snapshot)
    }

    private func chat(
        _ id: String, of account: String, _ snapshot: ConsoleSnapshot, _ viewer: Viewer
    ) async -> RenderedPage? {
        guard snapshot.account(account) != nil else { return nil }
        var page = ChatPage(account: account, id: id, detail: nil, now: snapshot.takenAt)
        do throws(ConsoleError) { page.detail = try await backend.chat(id, of: account) } catch {
            page.silence = error.message
        }
        return RenderedPage(page.page(for: viewer), snapshot)
    }

    private func why(_ query: FormFields, _ snapshot: ConsoleSnapshot, _ viewer: Viewer) async -> RenderedPage {
        let question = WhyPage.Query(
            event: query["event"] ?? "", account: query["account"] ?? "", minutes: query["minutes"] ?? "")
        let answers = question.isEmpty ? [] : await backend.why(question)
        let page = WhyPage(
            query: question, accounts: snapshot.accounts.map { $0.name }, answers: answers, now: snapshot.takenAt)
        return RenderedPage(page.page(for: viewer), snapshot)
    }

    private func logs(_ query: FormFields, _ snapshot: ConsoleSnapshot, _ viewer: Viewer) async -> RenderedPage {
        let filter = filter(query, snapshot)
        let lines = await backend.logs(filter, after: 0, limit: LogsPage.lines)
        let page = LogsPage(filter: filter, accounts: snapshot.accounts.map { $0.name }, lines: lines)
        return RenderedPage(page.page(for: viewer), snapshot)
    }

    /// The filter of a query; an unknown account or level counts as absent.
    func filter(_ query: FormFields, _ snapshot: ConsoleSnapshot) -> LogsPage.Filter {
        let account = query["account"].flatMap { snapshot.account($0)?.name }
        let level = query["level"].flatMap { LogLine.Level(rawValue: $0) }
        return LogsPage.Filter(account: account, level: level ?? .info)
    }

    /// The configuration page, with the result of a validation if there is one.
    func configuration(_ validation: ConfigurationPage.Validation?, for viewer: Viewer) async -> RenderedPage {
        let snapshot = await backend.snapshot()
        let state: ConsoleConfigurationState
        do throws(ConsoleError) { state = try await backend.configuration() } catch {
            state = ConsoleConfigurationState(
                effective: error.message,
                preview: .problems([
                    FileProblem(
                        line: 1, column: 1, path: "", expected: "a readable file", found: error.message,
                        fix: "check the file and its permissions")
                ]))
        }
        let page = ConfigurationPage(
            snapshot, effective: state.effective, preview: state.preview, validation: validation)
        return RenderedPage(page.page(for: viewer), snapshot)
    }

    private func load(_ snapshot: ConsoleSnapshot, _ viewer: Viewer) async -> RenderedPage {
        let page = LoadPage(
            folder: settings.reports, reports: await backend.loadReports(), probes: await backend.probes(),
            now: snapshot.takenAt)
        return RenderedPage(page.page(for: viewer), snapshot)
    }
}

import ConsolePages

/// The live updates of one page, as server-sent events.
///
/// Nothing is queued: after each update the stream reads the newest state, so that a slow reader skips what lies
/// between.
struct LiveStream: Sendable {
    /// Between two updates.
    static let pause = Duration.milliseconds(1_000)
    /// Milliseconds without an update after which a comment keeps the connection open.
    static let heartbeat: Int64 = 15_000

    let responder: ConsoleResponder
    let target: ConsoleTarget
    let visit: ConsoleAccess.Visit
    /// The number of the page as it was loaded.
    let rev: UInt64

    /// Serves until `wake` finishes, the session or the program ends, or a write fails.
    ///
    /// - Parameters:
    ///   - wake: the stream that ``feed(_:)`` feeds; keeps one element.
    ///   - write: writes events.
    @concurrent
    func serve(_ wake: AsyncStream<Void>, write: @concurrent (String) async throws -> Void) async throws {
        guard responder.access.openStream(visit) else { return try await write(ServerSentEvent.full) }
        defer { responder.access.closeStream(visit) }
        // At once, so that the browser knows that it is connected.
        try await write(ServerSentEvent.retry)
        var updates = LiveUpdates(after: rev)
        var written = responder.clock.milliseconds()
        for await _ in wake {
            guard responder.access.isOpen(visit) else { return try await write(ServerSentEvent.end) }
            guard let change = await next(&updates) else { return }
            if let update = change.update {
                try await write(update.event)
                written = responder.clock.milliseconds()
                try await Task.sleep(for: Self.pause)
            } else if responder.clock.milliseconds() - written >= Self.heartbeat {
                try await write(ServerSentEvent.comment)
                written = responder.clock.milliseconds()
            }
        }
    }

    /// Wakes the stream at once, at each change, and for heartbeats. Returns when the program ends; then the stream is
    /// finished.
    func feed(_ wake: AsyncStream<Void>.Continuation) async {
        // Before the first wake: a change between the two would be missed.
        let states = target.route == .logs ? nil : responder.backend.changes()
        let lines = target.route == .logs ? responder.backend.logChanges() : nil
        wake.yield()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(Self.heartbeat))
                    wake.yield()
                }
            }
            group.addTask {
                if let states { for await _ in states { wake.yield() } }
                if let lines { for await _ in lines { wake.yield() } }
                wake.finish()
            }
        }
    }

    private struct Change {
        var update: PageUpdate?
    }

    /// Returns the next update, if there is one; nil if the page has ceased to exist.
    private func next(_ updates: inout LiveUpdates) async -> Change? {
        let snapshot = await responder.backend.snapshot()
        if target.route == .logs {
            let filter = responder.filter(target.query, snapshot)
            let lines = await responder.backend.logs(
                filter, after: Int(clamping: updates.rev), limit: LogsPage.lines)
            return Change(update: updates.update(with: lines, now: snapshot.takenAt))
        }
        // Without a newer state the page need not be rendered.
        guard snapshot.rev > updates.rev else { return Change(update: nil) }
        guard let rendered = await responder.render(target, for: visit.viewer) else { return nil }
        return Change(update: updates.update(to: rendered))
    }
}

extension ConsoleResponder {
    /// The stream of a page: `/events?page=PATH&rev=NUMBER`.
    func stream(
        _ request: ConsoleRequest, _ query: FormFields, _ visit: ConsoleAccess.Visit
    ) throws(Refusal) -> ConsoleResponse {
        let target: ConsoleTarget
        do throws(ConsoleTarget.Problem) { target = try ConsoleTarget(query["page"] ?? "") } catch {
            throw refusal(404, "Not found", "The console has no such page.", visit)
        }
        switch target.route {
        case .overview, .logs, .configuration, .load, .account, .chat: break
        case .why, .validation, .action, .events, .login, .keyLogin, .logout, .asset:
            throw refusal(404, "Not found", "This page has no live updates.", visit)
        }
        // A browser that connects again names the last update that it has received.
        let rev = [query["rev"], query["cursor"], request.lastEventID].compactMap { $0.flatMap { UInt64($0) } }.max()
        let stream = LiveStream(responder: self, target: target, visit: visit, rev: rev ?? 0)
        return ConsoleResponse(status: 200, contentType: "text/event-stream", body: .stream(stream))
            // For proxies that collect responses before they pass them on.
            .with("x-accel-buffering", "no")
    }
}

import Synchronization

/// One account driven by lines of JSON: the process adapter `marmot-convergence-node-v1`, by which MDK's convergence
/// campaign drives clients of several implementations (docs/testing.md, "Convergence node").
package struct ConvergenceNode: Sendable {
    /// Maximum size of a request in bytes, without its line feed.
    package static let longestLine = 1_048_575

    /// One line of the input.
    package enum Line: Hashable, Sendable {
        case request(String)
        /// A line longer than ``ConvergenceNode/longestLine``.
        case tooLong
    }

    /// Opens or creates the account in a folder, and runs it for as long as the body does.
    package typealias Open =
        @Sendable (
            _ root: String, _ relays: [String], _ body: @escaping @Sendable (any NodeAccount) async throws -> Void
        ) async throws -> Void

    private let open: Open
    private let write: @Sendable (String) -> Void

    /// - Parameter write: receives the responses in the order of the requests.
    package init(open: @escaping Open, write: @escaping @Sendable (String) -> Void) {
        self.open = open
        self.write = write
    }

    /// Answers requests until `shutdown` or the end of the input.
    package func run(_ lines: AsyncStream<Line>) async {
        for await line in lines {
            guard let request = self.parse(line, participant: nil) else { continue }
            switch request.command {
            case .shutdown: return self.respond(request.id, nil, .shutdown)
            case .initialize(let participant, let root, let relays):
                guard await self.initialize(request.id, participant, root, relays, lines) else { continue }
                return
            default: self.respond(request.id, nil, .failed(.notInitialized))
            }
        }
    }

    /// Runs an initialized node to its end; returns false if the account could not be opened.
    private func initialize(
        _ id: String, _ participant: String, _ root: String, _ relays: [String], _ lines: AsyncStream<Line>
    ) async -> Bool {
        guard !relays.isEmpty else {
            self.respond(id, nil, .failed(.request("missing_relay", "relay_urls: expected at least one")))
            return false
        }
        // A failure to close the account is not an answer to any request.
        let isOpen = Mutex(false)
        do {
            try await self.open(root, relays) { account in
                isOpen.withLock { $0 = true }
                let recorder = NodeRecorder()
                let events = account.events
                await withTaskGroup { group in
                    group.addTask { for await event in events { recorder.note(event) } }
                    var session = NodeSession(participant: participant, account: account, recorder: recorder)
                    self.respond(id, participant, session.initialized)
                    await self.serve(&session, lines)
                    group.cancelAll()
                }
            }
            return true
        } catch {
            if isOpen.withLock({ $0 }) { return true }
            self.respond(id, nil, .failed(NodeFailure(error)))
            return false
        }
    }

    private func serve(_ session: inout NodeSession, _ lines: AsyncStream<Line>) async {
        for await line in lines {
            guard let request = self.parse(line, participant: session.participant) else { continue }
            self.respond(request.id, session.participant, await session.perform(request.command))
            if request.command == .shutdown { return }
        }
    }

    /// Returns a valid request of this protocol; answers any other line.
    private func parse(_ line: Line, participant: String?) -> NodeRequest? {
        do throws(NodeFailure) {
            guard case .request(let text) = line else { throw NodeFailure.frameTooLarge }
            let request = try NodeRequest(text)
            guard request.protocolName == NodeRequest.protocolName else {
                let failure = NodeFailure(
                    "wrong_protocol", .environment, "expected the protocol \(NodeRequest.protocolName)")
                self.respond(request.id, participant, .failed(failure))
                return nil
            }
            return request
        } catch {
            self.respond(line == .tooLong ? "oversized" : "unparseable", nil, .failed(error))
            return nil
        }
    }

    private func respond(_ id: String, _ participant: String?, _ body: NodeResponse.Body) {
        self.write(NodeResponse(request: id, participant: participant, body: body).line)
    }
}

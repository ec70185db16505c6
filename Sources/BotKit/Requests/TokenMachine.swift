/// Decisions of a token pipeline: attach a token, renew it once for all requests that were refused, retry each once.
///
/// A pure value: inputs return what to do. A generation is one pair of tokens.
struct TokenMachine: Hashable, Sendable {
    enum Stage: Hashable, Sendable {
        case ready
        /// One renewal runs; refused requests wait for it.
        case renewing
        /// The service refused the refresh token, or there is none.
        case signedOut
    }

    enum Decision: Hashable, Sendable {
        /// Send with the token of this generation.
        case send(generation: Int)
        /// Wait for the renewal.
        case wait
        /// Wait for the renewal, and start it.
        case renew
        case fail(Failure)
    }

    enum Failure: Hashable, Sendable {
        case signedOut
        /// The renewed token was refused too.
        case unauthorized
        /// The renewal failed for now.
        case notRenewed
        /// Too many requests wait.
        case crowded
    }

    /// Result of a renewal.
    enum Renewal: Hashable, Sendable {
        /// The new tokens are stored.
        case stored
        /// The service refused the refresh token: it has expired, or was used before.
        case refused
        /// No answer, or the new tokens could not be stored.
        case failed
    }

    private(set) var stage: Stage
    private(set) var generation = 0
    private(set) var waiting: Set<Int> = []
    private let maximumWaiting: Int

    init(isSignedIn: Bool, maximumWaiting: Int) {
        stage = isSignedIn ? .ready : .signedOut
        self.maximumWaiting = maximumWaiting
    }

    /// Begins a request.
    mutating func begin(_ request: Int) -> Decision {
        switch stage {
        case .ready: .send(generation: generation)
        case .signedOut: .fail(.signedOut)
        case .renewing: wait(request, .wait)
        }
    }

    /// Handles a refusal (401) of a request that was sent with the token of a generation.
    mutating func refused(_ request: Int, generation: Int, isRetry: Bool) -> Decision {
        if isRetry { return .fail(stage == .signedOut ? .signedOut : .unauthorized) }
        switch stage {
        case .signedOut: return .fail(.signedOut)
        case .renewing: return wait(request, .wait)
        case .ready:
            // Another request has renewed the token meanwhile.
            guard generation == self.generation else { return .send(generation: self.generation) }
            let decision = wait(request, .renew)
            if decision == .renew { stage = .renewing }
            return decision
        }
    }

    /// Ends the renewal, and returns the requests that waited for it with what to do.
    mutating func renewed(_ renewal: Renewal) -> [(request: Int, decision: Decision)] {
        guard stage == .renewing else { return [] }
        let decision: Decision
        switch renewal {
        case .stored:
            // The number of renewals of one process; far from overflow.
            generation &+= 1
            stage = .ready
            decision = .send(generation: generation)
        case .refused:
            stage = .signedOut
            decision = .fail(.signedOut)
        case .failed:
            stage = .ready
            decision = .fail(.notRenewed)
        }
        defer { waiting = [] }
        return waiting.sorted().map { ($0, decision) }
    }

    /// Makes a renewal that runs meaningless, because a sign-in or sign-out is being stored.
    mutating func supersede() { generation &+= 1 }

    /// Starts over with the tokens of a new sign-in.
    mutating func signedIn() -> [(request: Int, decision: Decision)] {
        stage = .ready
        defer { waiting = [] }
        return waiting.sorted().map { ($0, .send(generation: generation)) }
    }

    mutating func signedOut() -> [(request: Int, decision: Decision)] {
        stage = .signedOut
        defer { waiting = [] }
        return waiting.sorted().map { ($0, .fail(.signedOut)) }
    }

    /// Forgets a request that was cancelled.
    mutating func cancelled(_ request: Int) { waiting.remove(request) }

    private mutating func wait(_ request: Int, _ decision: Decision) -> Decision {
        guard waiting.count < maximumWaiting else { return .fail(.crowded) }
        waiting.insert(request)
        return decision
    }
}

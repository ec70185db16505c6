/// A pair of tokens of one sign-in (RFC 6749 §1.4, §1.5).
public struct TokenPair: Sendable, Hashable {
    /// The token that each request carries.
    public var access: BotSecret
    /// The token for the next renewal.
    public var refresh: BotSecret

    /// Creates a pair.
    public init(access: BotSecret, refresh: BotSecret) {
        self.access = access
        self.refresh = refresh
    }
}

/// The service's answer to a renewal.
public enum TokenRenewal: Sendable {
    /// New tokens; the old refresh token counts as used.
    case renewed(TokenPair)
    /// The refresh token has expired, or was used before.
    case refused
}

/// Sends requests with a token that is renewed when the service refuses it.
///
/// It attaches the access token. The first request that is answered 401 renews the tokens once, while the others wait;
/// then each is retried once. New tokens are in the vault before they are used. If the service refuses the refresh
/// token, the tokens are removed, and requests fail with `BotError.Code.signedOut` until ``signIn(_:)``.
///
/// The renewal is not part of a handler: a handler's deadline does not cut it off, because then the service would have
/// rotated the tokens without the bot.
public actor TokenPipeline {
    /// Asks the service for new tokens. Throws if there is no clear answer; then the same token is tried again later.
    public typealias Renew = @Sendable (_ refresh: BotSecret, _ http: any BotHTTP) async throws -> TokenRenewal

    private static let maximumWaiting = 256

    private let name: String
    private let http: any BotHTTP
    private let vault: BotVault
    private let background: BackgroundTasks
    private let observe: @Sendable (BotResourceEvent) -> Void
    private let renew: Renew
    private var machine: TokenMachine?
    private var tokens: TokenPair?
    /// Renewed tokens that could not be stored yet: not in use.
    private var unstored: TokenPair?
    private var waiters: [Int: AsyncStream<TokenMachine.Decision>.Continuation] = [:]
    private var requests = 0

    package init(
        name: String, http: any BotHTTP, vault: BotVault, background: BackgroundTasks,
        observe: @escaping @Sendable (BotResourceEvent) -> Void = { _ in }, renew: @escaping Renew
    ) {
        self.name = name
        self.http = http
        self.vault = vault
        self.background = background
        self.observe = observe
        self.renew = renew
    }

    /// Whether there are tokens that the service has not refused. Throws `BotError.Code.storageFailed`.
    public func isSignedIn() async throws(BotError) -> Bool {
        try await load()
        return machine?.stage != .signedOut
    }

    /// Stores the tokens of a new sign-in, and uses them. Throws the errors of ``BotVault``.
    public func signIn(_ pair: TokenPair) async throws(BotError) {
        try await load()
        try await store(pair)
        (tokens, unstored) = (pair, nil)
        resume(machine?.signedIn() ?? [])
    }

    /// Removes the tokens. Throws `BotError.Code.storageFailed`.
    public func signOut() async throws(BotError) {
        try await load()
        try await store(nil)
        (tokens, unstored) = (nil, nil)
        resume(machine?.signedOut() ?? [])
    }

    /// Sends a request with `Authorization: Bearer` and the access token, and returns the response.
    ///
    /// Throws `BotError.Code.signedOut`, `BotError.Code.unauthorized`, `BotError.Code.limitReached`, and the errors of
    /// ``BotHTTP`` and ``BotVault``.
    public func send(_ request: BotHTTPRequest) async throws(BotError) -> BotHTTPResponse {
        try await load()
        requests += 1
        let number = requests
        var decision = machine?.begin(number) ?? .fail(.signedOut)
        var isRetry = false
        while true {
            switch decision {
            case .fail(let failure): throw error(failure)
            case .wait: decision = try await result(of: number)
            case .renew:
                background.start { await self.renewTokens() }
                decision = try await result(of: number)
            case .send(let generation):
                guard let access = tokens?.access else { throw error(.signedOut) }
                let response = try await http.send(Self.authorized(request, access))
                guard response.status == 401 else { return response }
                decision =
                    machine?.refused(number, generation: generation, isRetry: isRetry) ?? .fail(.signedOut)
                isRetry = true
            }
        }
    }

    // MARK: Renewal

    private func renewTokens() async {
        guard let old = tokens else { return resume(machine?.renewed(.refused) ?? []) }
        let generation = machine?.generation
        var renewed = unstored
        if renewed == nil {
            do {
                switch try await renew(old.refresh, http) {
                case .renewed(let pair): renewed = pair
                case .refused:
                    guard generation == machine?.generation else { return }
                    observe(.tokens(.refused))
                    // The tokens are useless even if their removal fails.
                    tokens = nil
                    try? await vault.apply([accessName: nil, refreshName: nil])
                    return resume(machine?.renewed(.refused) ?? [])
                }
            } catch {
                observe(.tokens(.failed))
                return resume(machine?.renewed(.failed) ?? [])
            }
        }
        // A sign-in came first.
        guard let pair = renewed, generation == machine?.generation else { return }
        unstored = pair
        do throws(BotError) {
            try await vault.apply([accessName: pair.access, refreshName: pair.refresh])
        } catch {
            observe(.tokens(.failed))
            return resume(machine?.renewed(.failed) ?? [])
        }
        observe(.tokens(.renewed))
        guard generation == machine?.generation else { return }
        (tokens, unstored) = (pair, nil)
        resume(machine?.renewed(.stored) ?? [])
    }

    private func result(of request: Int) async throws(BotError) -> TokenMachine.Decision {
        let (decisions, waiter) = AsyncStream.makeStream(of: TokenMachine.Decision.self)
        waiters[request] = waiter
        for await decision in decisions { return decision }
        waiters[request] = nil
        machine?.cancelled(request)
        throw BotError(.requestFailed, "cancelled while the token was renewed")
    }

    private func resume(_ decisions: [(request: Int, decision: TokenMachine.Decision)]) {
        for (request, decision) in decisions {
            guard let waiter = waiters.removeValue(forKey: request) else { continue }
            waiter.yield(decision)
            waiter.finish()
        }
    }

    /// Stores what replaces the tokens of a renewal that may be running.
    private func store(_ pair: TokenPair?) async throws(BotError) {
        machine?.supersede()
        do {
            try await vault.apply([accessName: pair?.access, refreshName: pair?.refresh])
        } catch {
            resume(machine?.renewed(.failed) ?? [])
            throw error
        }
    }

    // MARK: Helpers

    private var accessName: String { "\(name).access" }
    private var refreshName: String { "\(name).refresh" }

    private func load() async throws(BotError) {
        guard machine == nil else { return }
        let access = try await vault.secret(accessName)
        let refresh = try await vault.secret(refreshName)
        // Another request may have loaded them meanwhile.
        guard machine == nil else { return }
        if let access, let refresh { tokens = TokenPair(access: access, refresh: refresh) }
        machine = TokenMachine(isSignedIn: tokens != nil, maximumWaiting: Self.maximumWaiting)
    }

    private static func authorized(_ request: BotHTTPRequest, _ token: BotSecret) -> BotHTTPRequest {
        var request = request
        request.headers.removeAll { $0.name.lowercased() == "authorization" }
        request.headers.append((name: "Authorization", value: "Bearer \(token.text)"))
        return request
    }

    private func error(_ failure: TokenMachine.Failure) -> BotError {
        switch failure {
        case .signedOut: BotError(.signedOut, "\(name): not signed in, or the service ended the session; sign in again")
        case .unauthorized: BotError(.unauthorized, "\(name): the service refused the renewed token")
        case .notRenewed: BotError(.requestFailed, "\(name): the token could not be renewed now")
        case .crowded: BotError(.limitReached, "\(name): too many requests wait for a renewed token")
        }
    }
}

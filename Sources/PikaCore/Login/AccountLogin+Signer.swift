import Nostr
import Synchronization

/// Accounts whose key is with a remote signer (NIP-46).
extension AccountLogin {
    /// Milliseconds for a signer to accept an invitation, which its user has to copy or scan first.
    private static let invitationTimeout: Int64 = 300_000

    /// Asks a signer for its account; reuses the stored client key of a known signer.
    func identity(
        fromBunker address: String, _ onApproval: @escaping @Sendable (String) -> Void
    ) async throws -> AccountIdentity {
        let url: BunkerURL
        do { url = try BunkerURL(address) } catch { throw AppCoreError(.badCredential, "\(error.message)") }
        var known: PublicKey?
        let client: KeyPair
        if case .bunker(let account, _, let key)? = try await self.storedIdentity(withSigner: url.remoteSigner) {
            known = account
            client = key
        } else {
            client = self.generateKey()
        }
        let signer = try await self.openSigner(url, client: client, account: known)
        return .bunker(try await self.account(of: signer, onApproval), url, client: client)
    }

    /// Waits until a signer accepts an invitation, then asks it for its account.
    func identity(
        fromInvitation url: NostrConnectURL, client: KeyPair, _ onApproval: @escaping @Sendable (String) -> Void
    ) async throws -> AccountIdentity {
        guard url.client == client.publicKey else {
            throw AppCoreError(.badCredential, "the invitation must name the key of its client, found \(url.client)")
        }
        let remoteSigner = try await self.awaitAcceptance(of: url, client)
        let bunker = BunkerURL(remoteSigner: remoteSigner, relays: url.relays)
        let signer = try await self.openSigner(bunker, client: client, isIntroduced: true)
        return .bunker(try await self.account(of: signer, onApproval), bunker, client: client)
    }

    private func openSigner(
        _ url: BunkerURL, client: KeyPair, account: PublicKey? = nil, isIntroduced: Bool = false
    ) async throws(AppCoreError) -> (signer: BunkerSigner, connections: SignerResources) {
        let connections = try await self.openConnections(client)
        let signer = BunkerSigner(
            url, clientKey: client, account: account, isIntroduced: isIntroduced, transport: connections.transport,
            clock: self.clock, randomness: self.randomness(), logger: self.logger)
        return (signer, connections)
    }

    private func openConnections(_ client: KeyPair) async throws(AppCoreError) -> SignerResources {
        do { return try await self.host.openSigner(client: client) } catch {
            throw AppCoreError(.accountUnavailable, "the connections to the signer cannot be opened: \(error)")
        }
    }

    /// Runs connections and operations until one of these returns a value or throws, then shuts the connections down.
    /// Throws `CancellationError` if the task was cancelled meanwhile.
    private static func firstValue<Value: Sendable>(
        over connections: SignerResources, _ operations: [@Sendable () async throws -> Value?]
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                do { try await connections.run() } catch {
                    throw AppCoreError(.accountUnavailable, "the connections to the signer have failed: \(error)")
                }
                return nil
            }
            for operation in operations { group.addTask { try await operation() } }
            var outcome: Result<Value, any Error> = .failure(CancellationError())
            var isOver = false
            while !isOver, let next = await group.nextResult() {
                switch next {
                case .success(.none): continue
                case .success(let value?): outcome = .success(value)
                case .failure(let error): outcome = .failure(error)
                }
                isOver = true
            }
            await connections.transport.shutdown()
            group.cancelAll()
            try Task.checkCancellation()
            return try outcome.get()
        }
    }

    // MARK: Invitation

    /// Returns the first signer that answers an invitation with its secret.
    private func awaitAcceptance(of url: NostrConnectURL, _ client: KeyPair) async throws -> PublicKey {
        let connections = try await self.openConnections(client)
        let clock = self.clock
        let deadline = clock.nowMilliseconds + Self.invitationTimeout
        return try await Self.firstValue(
            over: connections,
            [
                { await Self.acceptance(of: url, client, on: connections.transport) },
                {
                    try await clock.sleep(untilMilliseconds: deadline)
                    let relays = url.relays.map(\.string).joined(separator: ", ")
                    throw AppCoreError(.signerAway, "no remote signer accepted the invitation on \(relays)")
                },
            ])
    }

    /// Listens until the transport ends. Messages without the secret are ignored: anyone who knows the client's public
    /// key can send them.
    private static func acceptance(
        of url: NostrConnectURL, _ client: KeyPair, on transport: any RelayTransport
    ) async -> PublicKey? {
        await transport.setRelays(url.relays)
        let filter = Filter(kinds: [.remoteSigning], tags: ["p": [client.publicKey.hex]])
        await transport.subscribe(RelaySubscription(id: "invitation", filters: [filter], overlap: 60))
        for await update in transport.updates {
            guard case .event(_, _, let event) = update,
                let message = try? NIP46.message(in: event, from: event.pubkey, to: client),
                let response = try? NIP46.Response(json: message), response.outcome == .result(url.secret)
            else { continue }
            return event.pubkey
        }
        return nil
    }

    // MARK: Handshake

    /// Asks the signer for its account.
    private func account(
        of link: (signer: BunkerSigner, connections: SignerResources),
        _ onApproval: @escaping @Sendable (String) -> Void
    ) async throws -> PublicKey {
        let signer = link.signer
        let deadline = SignerDeadline(self.clock)
        do {
            return try await Self.firstValue(
                over: link.connections,
                [
                    {
                        await signer.run()
                        return nil
                    },
                    { try await signer.connect() },
                    {
                        let timeout = try await deadline.expiry()
                        throw await signer.timeoutError(after: timeout)
                    },
                    {
                        for await url in signer.challenges where deadline.extend(forApprovalAt: url) { onApproval(url) }
                        return nil
                    },
                ])
        } catch let error as SignerError { throw AppCoreError(login: error) }
    }
}

/// The deadline of a signer's answer during a login.
private final class SignerDeadline: Sendable {
    private struct State {
        /// The timeout in milliseconds.
        var timeout: Int64 = 30_000
        /// The address of the latest request for an approval.
        var approval: String?
    }

    /// Additional milliseconds if the signer asks for a user's approval.
    private static let approvalTimeout: Int64 = 300_000

    private let clock: any CoreClock
    private let start: Int64
    private let state = Mutex(State())

    init(_ clock: any CoreClock) {
        self.clock = clock
        self.start = clock.nowMilliseconds
    }

    /// Extends the deadline for a user's approval, at most once. Returns whether the address is a new one.
    func extend(forApprovalAt url: String) -> Bool {
        self.state.withLock { state in
            guard state.approval != url else { return false }
            if state.approval == nil { state.timeout += Self.approvalTimeout }
            state.approval = url
            return true
        }
    }

    /// Returns the timeout once it has passed; throws when the task is cancelled.
    func expiry() async throws -> Int64 {
        while true {
            let timeout = self.state.withLock { $0.timeout }
            guard self.clock.nowMilliseconds < self.start + timeout else { return timeout }
            try await self.clock.sleep(untilMilliseconds: self.start + timeout)
        }
    }
}

extension AppCoreError {
    /// Maps the signer's error to the reason why a login failed, and how to fix it.
    fileprivate init(login error: SignerError) {
        switch error.code {
        case .away: self.init(.signerAway, "the remote signer is away: \(error.message); log in again")
        case .wrongAccount:
            self.init(.wrongSigner, "\(error.message); erase that account first to log in as another one")
        default: self.init(.signerRefused, "the remote signer refuses this login: \(error.message)")
        }
    }
}

package import Nostr
package import PikaCore
import Synchronization

/// A remote signer (NIP-46) that keeps one account's key and behaves as the test chooses. Its secret admits one client;
/// admitted clients stay admitted.
package final class LabBunker: Sendable {
    /// The treatment of requests.
    package enum Conduct: Sendable, Hashable {
        /// Answers at once.
        case answers
        /// Does not answer.
        case silent
        /// Answers every request with this reason as its error.
        case refuses(reason: String)
        /// Asks for an approval at this address, and answers once it is given.
        case wantsApproval(url: String)
    }

    private struct State {
        var conduct = Conduct.answers
        var random: SeededGenerator
        var user: KeyPair
        var clients: Set<PublicKey> = []
        var isSecretSpent = false
        var requests: [NIP46.Request] = []
        var held: [(request: NIP46.Request, client: PublicKey)] = []
    }

    /// The secret that admits one client, in ``url``.
    package let secret: String
    private let keys: KeyPair
    private let relay: RelayURL
    private let transport: any RelayTransport
    private let clock: any CoreClock
    private let state: Mutex<State>

    /// - Parameter transport: used by this signer only; ``run()`` sets its relay.
    package init(
        _ user: KeyPair, secret: String = "opensesame", relay: RelayURL, transport: any RelayTransport,
        clock: any CoreClock, seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed, stream: "bunker of \(user.publicKey.hex)")
        self.keys = KeyPair.generate(using: &random)
        self.secret = secret
        self.relay = relay
        self.transport = transport
        self.clock = clock
        self.state = Mutex(State(random: random, user: user))
    }

    /// The address for a client: this signer's key, its relay and the secret.
    package var url: BunkerURL {
        BunkerURL(remoteSigner: self.keys.publicKey, relays: [self.relay], secret: self.secret)
    }

    /// The admitted clients.
    package var clients: Set<PublicKey> { self.state.withLock { $0.clients } }

    /// The methods of all requests, in order; repeated requests count once.
    package var methods: [NIP46.Method] { self.state.withLock { $0.requests.map(\.method) } }

    /// The treatment of later requests, initially `.answers`.
    package var conduct: Conduct {
        get { self.state.withLock { $0.conduct } }
        set { self.state.withLock { $0.conduct = newValue } }
    }

    /// Replaces the held key with another account's.
    package func hold(_ user: KeyPair) { self.state.withLock { $0.user = user } }

    func approve() async {
        let held = self.state.withLock { state in
            state.conduct = .answers
            defer { state.held = [] }
            return state.held
        }
        for (request, client) in held { await self.send(self.outcome(of: request, client), to: request, client) }
    }

    func accept(_ invitation: NostrConnectURL) async {
        self.state.withLock { _ = $0.clients.insert(invitation.client) }
        await self.send(
            .result(invitation.secret), to: NIP46.Request(id: "invitation", method: .connect), invitation.client)
    }

    /// Answers until the transport ends.
    ///
    /// - Parameter onSubscribed: Called when the relay has confirmed the subscription.
    package func run(onSubscribed: @Sendable () -> Void = {}) async {
        await self.transport.setRelays([self.relay])
        let filter = Filter(kinds: [.remoteSigning], tags: ["p": [self.keys.publicKey.hex]])
        await self.transport.subscribe(RelaySubscription(id: "bunker", filters: [filter], overlap: 0))
        for await update in self.transport.updates {
            if case .endOfStoredEvents = update { onSubscribed() }
            guard case .event(_, _, let event) = update,
                let message = try? NIP46.message(in: event, from: event.pubkey, to: self.keys),
                let request = try? NIP46.Request(json: message)
            else { continue }
            await self.receive(request, event.pubkey)
        }
    }

    private func receive(_ request: NIP46.Request, _ client: PublicKey) async {
        let conduct = self.state.withLock { state in
            if !state.requests.contains(where: { $0.id == request.id }) { state.requests.append(request) }
            if case .wantsApproval = state.conduct { state.held.append((request, client)) }
            return state.conduct
        }
        switch conduct {
        case .silent: break
        case .answers: await self.send(self.outcome(of: request, client), to: request, client)
        case .refuses(let reason): await self.send(.error(reason), to: request, client)
        case .wantsApproval(let url): await self.send(.challenge(url: url), to: request, client)
        }
    }

    private func send(_ outcome: NIP46.Response.Outcome, to request: NIP46.Request, _ client: PublicKey) async {
        let event = self.state.withLock { state in
            try? NIP46.event(
                NIP46.Response(id: request.id, outcome: outcome).json(), from: self.keys, to: client,
                now: self.clock.now, using: &state.random)
        }
        if let event { _ = await self.transport.publish(event, to: [self.relay]) }
    }

    private func outcome(of request: NIP46.Request, _ client: PublicKey) async -> NIP46.Response.Outcome {
        let (isKnown, signer, user) = self.state.withLock { state in
            if request.method == .connect, request.params.dropFirst().first == self.secret, !state.isSecretSpent {
                state.isSecretSpent = true
                state.clients.insert(client)
            }
            let random = SeededGenerator(seed: state.random.next(), stream: "answer")
            return (state.clients.contains(client), LabSigner(state.user, random: random), state.user.publicKey)
        }
        guard isKnown else { return .error("unknown client") }
        do throws(SignerError) {
            switch request.method {
            case .connect: return .result("ack")
            case .ping: return .result("pong")
            case .getPublicKey: return .result(user.hex)
            case .signEvent, .nip44Encrypt, .nip44Decrypt: return .result(try await Self.use(signer, request))
            default: return .error("unknown method")
            }
        } catch { return .error(error.message) }
    }

    private static func use(_ signer: LabSigner, _ request: NIP46.Request) async throws(SignerError) -> String {
        let params = request.params
        if request.method == .signEvent {
            guard let text = params.first, let draft = try? UnsignedEvent.parseRumor(Array(text.utf8)).event else {
                throw SignerError(.refused, "no event")
            }
            return String(decoding: try await signer.sign(draft).json(), as: UTF8.self)
        }
        guard params.count == 2, let peer = try? PublicKey(hex: params[0]) else {
            throw SignerError(.refused, "no peer")
        }
        if request.method == .nip44Encrypt { return try await signer.nip44Encrypt(Array(params[1].utf8), to: peer) }
        return String(decoding: try await signer.nip44Decrypt(params[1], from: peer), as: UTF8.self)
    }
}

extension GroupLab {
    /// Creates a remote signer that holds this key.
    package func bunker(of user: KeyPair, secret: String = "opensesame") async throws -> LabBunker {
        let bunker = LabBunker(
            user, secret: secret, relay: self.relay, transport: self.network.transport(name: "bunker"),
            clock: self.clock, seed: self.seed)
        // Runs until the lab ends.
        Task(executorPreference: self.executor) { await bunker.run() }
        try await self.settle()
        return bunker
    }

    /// Accepts a client's invitation, as a signer does whose user has scanned it.
    package func accept(_ invitation: NostrConnectURL, by bunker: LabBunker) async throws {
        try await self.run { await bunker.accept(invitation) }
    }

    /// Approves all requests waiting at a remote signer, and all later ones.
    package func approve(_ bunker: LabBunker) async throws {
        try await self.run { await bunker.approve() }
    }
}

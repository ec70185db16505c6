import LiveTesting
import Nostr
import PikaCore
import Synchronization

/// A scripted bunker behind connections without a network. It is also its client's clock: while the bunker is silent,
/// time jumps to the next deadline; otherwise it stands still.
final class ScriptedBunker: RelayTransport, CoreClock {
    enum Reply: Sendable {
        case outcome(NIP46.Response.Outcome)
        /// Signed by another key.
        case stranger(NIP46.Response.Outcome)
        /// With the id of another request.
        case otherID(NIP46.Response.Outcome)
        case bytes([UInt8])

        static func result(_ text: String) -> Reply { .outcome(.result(text)) }
    }

    /// Returns the replies to a request; `time` counts its transmissions from 1. An empty list sends no reply.
    typealias Script = @Sendable (_ request: NIP46.Request, _ time: Int) -> [Reply]

    private struct State {
        var now: Int64 = 1_800_000_000_000
        var random = SplitMix64(seed: 21)
        var requests: [NIP46.Request] = []
        var isSilent = false
        var relays: [RelayURL] = []
        var held: [(NIP46.Request, PublicKey)] = []
    }

    let keys: KeyPair
    let user: KeyPair
    let stranger: KeyPair
    let updates: AsyncStream<RelayUpdate>
    private let continuation: AsyncStream<RelayUpdate>.Continuation
    private let state: Mutex<State>
    private let script: Script
    /// This many requests are answered together, the last one first.
    private let batch: Int

    init(batch: Int = 1, _ script: @escaping Script) {
        var state = State()
        self.keys = KeyPair.generate(using: &state.random)
        self.user = KeyPair.generate(using: &state.random)
        self.stranger = KeyPair.generate(using: &state.random)
        (self.updates, self.continuation) = AsyncStream.makeStream()
        self.state = Mutex(state)
        self.script = script
        self.batch = batch
    }

    var url: BunkerURL { BunkerURL(remoteSigner: self.keys.publicKey, relays: [ReducerWorld.relay], secret: "hunter2") }
    var requests: [NIP46.Request] { self.state.withLock { $0.requests } }
    var methods: [String] { self.requests.map(\.method.rawValue) }
    var nowMilliseconds: Int64 { self.state.withLock { $0.now } }
    var monotonicMilliseconds: Int64 { self.nowMilliseconds }

    func setRelays(_ relays: [RelayURL]) async {
        self.state.withLock { $0.relays = relays }
        for relay in relays { self.continuation.yield(.state(relay: relay, .connected)) }
    }
    func subscribe(_ subscription: RelaySubscription) async {}
    func unsubscribe(_ id: String) async {}
    func shutdown() async { self.continuation.finish() }
    func fetch(_ filters: [Filter], from relays: [RelayURL], timeout: Duration) async -> [RelayURL: FetchOutcome] {
        [:]
    }

    func publish(_ event: Event, to relays: [RelayURL]) async -> AsyncStream<PublishReport> {
        guard let message = try? NIP46.message(in: event, from: event.pubkey, to: self.keys),
            let request = try? NIP46.Request(json: message)
        else { return AsyncStream { $0.finish() } }
        let due = self.state.withLock { state -> [(NIP46.Request, PublicKey)] in
            state.requests.append(request)
            state.held.append((request, event.pubkey))
            guard state.held.count >= self.batch else { return [] }
            defer { state.held = [] }
            return state.held.reversed()
        }
        for (request, client) in due { self.answer(request, client) }
        return AsyncStream { $0.finish() }
    }

    private func answer(_ request: NIP46.Request, _ client: PublicKey) {
        let time = self.requests.filter { $0.id == request.id }.count
        let replies = self.script(request, time)
        self.state.withLock { $0.isSilent = replies.isEmpty }
        for reply in replies {
            let event = self.state.withLock { state in
                switch reply {
                case .outcome(let outcome): self.event(request.id, outcome, by: self.keys, client, &state)
                case .stranger(let outcome): self.event(request.id, outcome, by: self.stranger, client, &state)
                case .otherID(let outcome): self.event("other", outcome, by: self.keys, client, &state)
                case .bytes(let bytes):
                    try? NIP46.event(bytes, from: self.keys, to: client, now: 0, using: &state.random)
                }
            }
            if let event {
                self.continuation.yield(.event(relay: ReducerWorld.relay, subscription: "signer", event))
            }
        }
    }

    private func event(
        _ id: String, _ outcome: NIP46.Response.Outcome, by author: KeyPair, _ client: PublicKey, _ state: inout State
    ) -> Event? {
        try? NIP46.event(
            NIP46.Response(id: id, outcome: outcome).json(), from: author, to: client, now: 0, using: &state.random)
    }

    func sleep(untilMonotonicMilliseconds time: Int64) async throws {
        try await self.sleep(untilMilliseconds: time)
    }

    func sleep(untilMilliseconds time: Int64) async throws {
        let isOver = self.state.withLock { state in
            if state.isSilent { state.now = max(state.now, time) }
            return state.isSilent
        }
        guard !isOver else { return }
        // Until the task is cancelled.
        let (stream, never) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        never.finish()
        throw CancellationError()
    }

    /// The reply of a correct bunker.
    func obey(_ request: NIP46.Request) -> Reply {
        switch request.method {
        case .connect: return .result("ack")
        case .ping: return .result("pong")
        case .getPublicKey: return .result(self.user.publicKey.hex)
        case .signEvent:
            guard let draft = try? UnsignedEvent.parseRumor(Array(request.params[0].utf8)).event else {
                return .outcome(.error("no event"))
            }
            let event = self.state.withLock { draft.signed(by: self.user, using: &$0.random) }
            return .result(String(decoding: event.json(), as: UTF8.self))
        case .nip44Encrypt, .nip44Decrypt: return self.cipher(request)
        default: return .outcome(.error("unknown method"))
        }
    }

    private func cipher(_ request: NIP46.Request) -> Reply {
        guard request.params.count == 2, let peer = try? PublicKey(hex: request.params[0]),
            let key = try? NIP44.conversationKey(self.user, peer)
        else { return .outcome(.error("no peer")) }
        if request.method == .nip44Encrypt {
            let nonce = [UInt8](repeating: 7, count: 32)
            return (try? NIP44.encrypt(Array(request.params[1].utf8), key, nonce: nonce)).map(Reply.result)
                ?? .outcome(.error("too long"))
        }
        guard let text = try? NIP44.decrypt(request.params[1], key) else { return .outcome(.error("bad payload")) }
        return .result(String(decoding: text, as: UTF8.self))
    }
}

import Appliance
import BotKit

/// The household's state, and what happens beside the handlers: requests, the live stream, deadlines.
///
/// One for each run of the bot. A change is stored before its requests are sent; what a chat is told goes into the inbox.
actor Kitchen {
    let settings: EpicuraSettings
    let services: BotServices
    let client: CloudClient
    let book: RecipeBook
    private let store: KitchenStore
    private let wakes: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation

    private(set) var state: KitchenState
    private var stored: KitchenState
    private var isLoaded = false
    private var isSaving = false
    private var savers: [CheckedContinuation<Void, Never>] = []

    var queue = RequestQueue()
    /// Requests that follow from stored changes.
    var works: [KitchenWork] = []
    /// The last known ways to each appliance.
    var reach: [String: CookingSession.Reach] = [:]
    /// Orders whose appliance is being reached.
    var beginning: Set<String> = []
    var reading: Set<String> = []
    /// Statuses that could not be read are read again then.
    var nextReading: UnixTime?
    var isSynchronizing = false
    var mustSynchronize = false
    var nextSynchronization: UnixTime?
    var synchronizationWait: Int64 = 0
    /// Whether the last request to the cloud had an answer.
    var isCloudReachable = true
    var isConnected = false
    /// Searches that wait for recipes: chats with their words.
    var searches: [(chat: String, query: String)] = []
    var timer: Int64?
    var nextDelivery: UnixTime?
    var pairing: PairingSession?
    /// `HOST:PORT` that the appliance has told over Bluetooth.
    var pairedAddress: String?

    init(_ settings: EpicuraSettings, _ services: BotServices, _ client: CloudClient) {
        self.settings = settings
        self.services = services
        self.client = client
        book = RecipeBook(services)
        store = KitchenStore(services)
        state = KitchenState()
        stored = state
        (wakes, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        wakeUp.yield()
    }

    /// The kitchen of this run, which the first call starts.
    static func of(_ context: BotContext, _ settings: EpicuraSettings) async throws -> Kitchen {
        let services = context.services
        // Its vault and its tokens are shared objects too, and so have to exist before.
        let client = try CloudClient(cloud: settings.cloud, services: services)
        let (kitchen, isNew) = try services.resources.object("kitchen", of: context.bot) {
            Kitchen(settings, services, client)
        }
        if isNew { services.resources.background.start { await kitchen.run() } }
        try await kitchen.load()
        return kitchen
    }

    nonisolated var now: UnixTime { UnixTime(milliseconds: services.clock.nowMilliseconds) }

    func wake() { wakeUp.yield() }
    var wakeStream: AsyncStream<Void> { wakes }

    // MARK: State

    /// Reads the stored state, once. Throws `BotError.Code.storageFailed`.
    func load() async throws(BotError) {
        guard !isLoaded else { return }
        var found = try await store.load()
        // Another call may have loaded it meanwhile.
        guard !isLoaded else { return }
        stored = found
        // The answer to an upload of the last run was lost.
        found.preferences.uploadFailed()
        if found.household.pictures.maximumBytes != settings.imageBytes {
            // The next synchronization removes the pictures that the new index does not know.
            found.household.pictures = ImageCacheIndex(maximumBytes: settings.imageBytes)
        }
        state = found
        isLoaded = true
        works += state.cooking.orders.filter { $0.hasBegun && $0.session.deadline == nil }.map {
            .readStatus(order: $0.id)
        }
        works.append(.synchronize)
        wake()
    }

    /// Changes the state, stores it, and lets the requests follow.
    ///
    /// Throws the errors of `body`, which then changes nothing, and `BotError.Code.storageFailed`.
    @discardableResult
    func update<Result: Sendable>(
        _ body: @Sendable (inout KitchenState, UnixTime) throws -> (result: Result, works: [KitchenWork])
    ) async throws -> Result {
        try await load()
        var changed = state
        let (result, following) = try body(&changed, now)
        state = changed
        try await commit()
        works += following
        wake()
        return result
    }

    /// Changes the state without requests.
    @discardableResult
    func change<Result: Sendable>(
        _ body: @Sendable (inout KitchenState, UnixTime) throws -> Result
    ) async throws -> Result {
        try await update { state, now in (try body(&state, now), []) }
    }

    /// Changes the state in memory; ``commit()`` stores it.
    func edit<Result>(_ body: (inout KitchenState) -> Result) -> Result { body(&state) }

    /// Stores the state as it is when the writes before have ended. Throws `BotError.Code.storageFailed`.
    func commit() async throws(BotError) {
        while isSaving { await withCheckedContinuation { savers.append($0) } }
        guard state != stored else { return }
        isSaving = true
        defer {
            isSaving = false
            let waiting = savers
            savers = []
            for saver in waiting { saver.resume() }
        }
        let saved = state
        try await store.save(saved, over: stored)
        stored = saved
    }

    // MARK: Texts

    func text(_ key: TextKey, _ arguments: [String: String] = [:], for chat: ChatID) -> String {
        state.text(key, arguments, for: chat.rawValue, settings)
    }

    func language(of chat: ChatID) -> Language { state.language(of: chat.rawValue, settings) }
}

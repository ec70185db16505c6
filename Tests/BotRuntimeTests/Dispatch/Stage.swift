import BotKit
import Logging

@testable import BotDispatch
@testable import PikaCore

/// Runs bots and a dispatcher for a test.
struct Stage: Sendable {
    let core: ScriptedCore
    let clock: StandingClock
    let dispatcher: BotDispatcher

    init(
        _ bots: [InstalledBot], core: ScriptedCore = ScriptedCore(), clock: StandingClock = StandingClock(),
        page: any InFlightStorage = NoInFlightStorage()
    ) {
        self.core = core
        self.clock = clock
        var configuration = BotDispatcher.Configuration(accountName: "greeter")
        configuration.inFlightStorage = page
        dispatcher = BotDispatcher(
            bots: bots, core: core, clock: clock, configuration: configuration,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    init(_ bots: any Bot..., core: ScriptedCore = ScriptedCore(), clock: StandingClock = StandingClock()) {
        self.init(
            bots.enumerated().map { InstalledBot($0.element, label: "bot\($0.offset)") }, core: core, clock: clock)
    }

    func run(_ body: (Stage) async throws -> Void) async rethrows {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await dispatcher.run() }
            try await body(self)
            group.cancelAll()
        }
    }
}

func texts(_ effects: [HandlerEffect]) -> [String] {
    effects.compactMap { if case .send(_, let message) = $0.operation { message.content } else { nil } }
}

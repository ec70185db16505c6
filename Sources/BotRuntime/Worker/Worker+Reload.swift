import BotConfiguration
import BotDispatch
import BotKit
import ExternalBots
import NetworkAddresses
import Nostr
import PikaCore

extension Worker {
    /// Applies the parts of another configuration that can change at runtime; the supervisor handles the others.
    func reload(
        _ question: JSONValue, _ core: AppCore, _ dispatcher: BotDispatcher, _ admission: Admission
    ) async throws -> JSONValue {
        guard let read = options.reload else { throw WorkerRefusal("this worker does not support reloading") }
        let configuration = try read(question)
        guard let account = configuration.accounts.first(where: { $0.name == self.account.name }) else {
            throw WorkerRefusal("the account is not in the configuration")
        }
        // Bots may reject settings, and the core may have ended: then nothing has changed. After that only the store
        // can fail, which ends the worker.
        let bots = try bots(as: account)
        let change = AppAction.reloadConfiguration(Self.coreConfiguration(configuration, account))
        switch await core.outcome(of: change, "reload") {
        case nil: throw WorkerRefusal("the core has ended")
        case .failed(let error): throw WorkerRefusal(error.message)
        default: break
        }
        relays.set(configuration.relays)
        addresses.setAllowsPrivate(configuration.allowsPrivateAddresses)
        addresses.setConfiguredCallRelay(configuration.calls.relay)
        admission.operators = account.operators
        try await dispatcher.reconfigure(bots)
        policies.set(bots)
        for bot in bots { programs.first { $0.label == bot.label }?.policy = bot.policy }
        options.apply?(configuration)
        return .object([:])
    }

    /// Returns the bots with new settings and policies. A bot that is new, removed or of another kind stays unchanged
    /// until the worker's next start; of an external bot only the policy changes.
    private func bots(as account: AccountConfiguration) throws -> [InstalledBot] {
        try bots.map { installed in
            let named = { (bot: BotConfiguration) in bot.name == installed.label }
            guard let new = account.bots.first(where: named), let old = self.account.bots.first(where: named) else {
                return installed
            }
            var changed = installed
            switch (old.source, new.source) {
            case (.included(let oldName, _), .included(let name, let settings)) where oldName == name:
                return InstalledBot(
                    try registry.makeBot(name, settings: settings), label: new.name, policy: new.policy)
            case (.external, .external):
                changed.policy = new.policy
                return changed
            default: return installed
            }
        }
    }

    /// Returns the configuration of an account's core.
    static func coreConfiguration(
        _ configuration: Configuration, _ account: AccountConfiguration
    ) -> CoreConfiguration {
        let invites: CoreConfiguration.InvitePolicy =
            switch account.invites {
            case .anyone: .anyone
            case .nobody: .nobody
            case .allowlist(let keys): .only(keys)
            }
        var calls = CallPolicy.handlers
        calls.moqURL = configuration.calls.relay?.string
        calls.longestMilliseconds = configuration.calls.longest.wholeMilliseconds
        return CoreConfiguration(
            relays: configuration.relays, invites: invites, selfUpdate: account.selfUpdate,
            retention: account.retention, detectsCopies: true, mediaServers: configuration.media.servers,
            calls: calls, readsProfiles: account.profiles,
            inviteLimits: .init(account.inviteLimit), callLimit: RateLimit(6, per: .seconds(60)),
            onRollbackStorm: account.onRollbackStorm, groupProtocol: account.groupProtocol)
    }
}

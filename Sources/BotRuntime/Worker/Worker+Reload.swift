import Nostr
import PikaCore

extension Worker {
    /// Takes over what of another configuration can change while the account works; the supervisor knows what cannot.
    func reload(_ question: JSONValue, core: AppCore) async throws -> JSONValue {
        guard let read = options.reload else { throw WorkerRefusal("this worker reads no other configuration") }
        let configuration = try read(question)
        guard let account = configuration.accounts.first(where: { $0.name == self.account.name }) else {
            throw WorkerRefusal("the account is not in the configuration")
        }
        core.dispatch(.reloadConfiguration(Self.coreConfiguration(configuration, account)))
        guard await core.takesInputs("reload") else { throw WorkerRefusal("the core has ended") }
        return .object([:])
    }

    /// What the core of an account is told.
    static func coreConfiguration(
        _ configuration: Configuration, _ account: AccountConfiguration
    ) -> CoreConfiguration {
        let invites: CoreConfiguration.InvitePolicy =
            switch account.invites {
            case .anyone: .anyone
            case .nobody: .nobody
            case .allowlist(let keys): .only(keys)
            }
        return CoreConfiguration(
            relays: configuration.relays, invites: invites, selfUpdate: account.selfUpdate,
            retention: account.retention, detectsCopies: true, mediaServers: configuration.media.servers,
            readsProfiles: account.profiles,
            inviteLimits: .init(account.inviteLimit), callLimit: RateLimit(6, per: .seconds(60)))
    }
}

import BotConfiguration
import BotProgram
import BotRuntime
import Foundation
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import Storage

/// Whether a set-up account can be found and invited.
enum SetupPublication: Hashable, Sendable {
    /// Profile, relay lists and key packages are on a relay.
    case published
    /// Somebody else publishes them: the reason.
    case left(String)
    /// They are not published: the reason.
    case failed(String)

    /// Publishes the account's profile, unless it has one, its relay lists and key packages, from the state directory
    /// that the bot will use.
    static func publish(_ files: SetupFiles) async -> SetupPublication {
        let directory = files.accountDirectory
        if files.place.isService, belongsToService(directory) { return .left("the service publishes them itself") }
        do {
            try await publish(files, from: directory)
            return .published
        } catch let error as StoreError where error.code == .locked {
            return .left("the bot is running and publishes them itself")
        } catch {
            return .failed((error as? AppCoreError)?.message ?? "\(error)")
        }
    }

    /// Whether the service has run: its user then owns the state, and files of root in it would make the service fail.
    private static func belongsToService(_ directory: String) -> Bool {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: directory) else { return false }
        return (attributes[.ownerAccountID] as? NSNumber)?.uint32Value != geteuid()
    }

    private static func publish(_ files: SetupFiles, from directory: String) async throws {
        let held = HeldKey(files.key)
        let settings = LocalAccountSettings(
            key: held, core: core(files), stateDirectory: directory, keepsEvents: true,
            addresses: AddressGuard(allowsPrivate: files.configuration.allowsPrivateAddresses),
            logger: Logger(label: "pikabot"))
        let name = files.account.name
        try await withLocalAccount(settings) { account in
            let client = Client(key: held.key, account: account)
            try await client.catchUp(needed: true, advice: "check the relays and the network")
            _ = try await account.perform(.refreshProfile)
            if await account.core.state.myProfile == nil {
                Console.progress("publishing the profile…")
                _ = try await account.perform(.saveProfile(ProfileDraft(name: name)))
            }
            _ = try await client.publishKeyPackage()
            await client.settle()
        }
    }

    /// Invitations that arrive meanwhile are accepted as by the bot, whose next start finds their events.
    private static func core(_ files: SetupFiles) -> CoreConfiguration {
        let invites: CoreConfiguration.InvitePolicy =
            switch files.account.invites {
            case .anyone: .anyone
            case .nobody: .nobody
            case .allowlist(let keys): .only(keys)
            }
        return CoreConfiguration(
            relays: files.configuration.relays, invites: invites, publishesKeyPackage: false, keepsInbox: true,
            mediaServers: files.configuration.media.servers, groupProtocol: files.account.groupProtocol)
    }
}

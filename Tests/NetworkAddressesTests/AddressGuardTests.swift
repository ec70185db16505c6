import Nostr
import Synchronization
import Testing

@testable import NetworkAddresses

struct AddressGuardTests {
    private let outside = HostAddress(text: "192.0.2.1", scope: .global)
    private let inside = HostAddress(text: "10.0.0.1", scope: .local)

    private func relay(_ text: String) throws -> RelayURL { try RelayURL(text) }

    private func guardian(allowsPrivate: Bool = false, _ found: HostAddress...) -> AddressGuard {
        AddressGuard(allowsPrivate: allowsPrivate) { _ in found }
    }

    @Test func allowsPublicAddresses() async throws {
        #expect(try await guardian(outside).allowedAddresses(of: "a.example", port: 443) == .only([outside]))
    }

    @Test func refusesPrivateAddresses() async {
        for addresses in [guardian(inside), guardian(outside, inside), guardian(inside, outside)] {
            await #expect(throws: AddressRefusal.privateAddress) {
                try await addresses.allowedAddresses(of: "a.example", port: 443)
            }
        }
    }

    @Test func refusesUnknownHosts() async {
        await #expect(throws: AddressRefusal.unknownHost) {
            try await guardian().allowedAddresses(of: "a.example", port: 443)
        }
    }

    @Test func configuredRelaysMayBePrivate() async throws {
        let addresses = guardian(inside)
        addresses.setConfiguredRelays([try relay("ws://Home.example:7777/path")])
        #expect(try await addresses.allowedAddresses(of: "home.example", port: 7777) == .anywhere)
        #expect(addresses.names(try relay("ws://home.example:7777")))
        // Another service of the same machine is not covered.
        await #expect(throws: AddressRefusal.privateAddress) {
            try await addresses.allowedAddresses(of: "home.example", port: 22)
        }
        #expect(!addresses.names(try relay("ws://home.example")))
        addresses.setConfiguredRelays([])
        await #expect(throws: AddressRefusal.privateAddress) {
            try await addresses.allowedAddresses(of: "home.example", port: 7777)
        }
    }

    @Test func configuredServersMayBePrivateWithoutLogin() async throws {
        let addresses = guardian(inside)
        addresses.setConfiguredServers([("media.example", 80)])
        #expect(try await addresses.allowedAddresses(of: "MEDIA.example", port: 80) == .anywhere)
        #expect(!addresses.names(try relay("ws://media.example")))
    }

    @Test func botRelaysStayConfigured() async throws {
        let addresses = guardian(inside)
        addresses.addNamedRelays([try relay("ws://bot.example")])
        addresses.setConfiguredRelays([])
        #expect(addresses.names(try relay("ws://bot.example")))
    }

    @Test func allowsPrivateAddressesIfConfigured() async throws {
        let addresses = guardian(allowsPrivate: true, inside)
        #expect(try await addresses.allowedAddresses(of: "a.example", port: 443) == .anywhere)
        // No relay is named, so no login happens there.
        #expect(!addresses.names(try relay("wss://a.example")))
        addresses.setAllowsPrivate(false)
        await #expect(throws: AddressRefusal.privateAddress) {
            try await addresses.allowedAddresses(of: "a.example", port: 443)
        }
    }

    @Test func resolvesHostsOnEveryCheck() async throws {
        let count = Mutex(0)
        let (outside, inside) = (outside, inside)
        let addresses = AddressGuard(allowsPrivate: false) { _ in
            count.withLock { count in
                count += 1
                return count == 1 ? [outside] : [inside]
            }
        }
        #expect(try await addresses.allowedAddresses(of: "a.example", port: 443) == .only([outside]))
        await #expect(throws: AddressRefusal.privateAddress) {
            try await addresses.allowedAddresses(of: "a.example", port: 443)
        }
    }

    @Test(arguments: [
        "127.0.0.1", "localhost", "::1", "169.254.169.254", "10.1.2.3", "0.0.0.0", "2130706433", "0x7f.1", "127.1",
        "::ffff:127.0.0.1", "64:ff9b::7f00:1",
    ])
    func refusesAlternateSpellingsOfPrivateAddresses(_ host: String) async {
        await #expect(throws: AddressRefusal.self) {
            try await AddressGuard(allowsPrivate: false).allowedAddresses(of: host, port: 80)
        }
    }

    @Test func unrestrictedGuardAllowsEveryAddress() async throws {
        #expect(try await AddressGuard.unrestricted.allowedAddresses(of: "127.0.0.1", port: 1) == .anywhere)
        #expect(AddressGuard.unrestricted.names(try relay("ws://127.0.0.1")))
    }
}

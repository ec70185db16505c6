import Testing

@testable import Nostr

/// NIP-66: relay discovery and monitors.
struct NIP66Tests {
    private let monitor = PublicKey(value: Bytes32.sha256([7]))

    @Test func discoveryEventContainsTheFindings() throws {
        let discovery = RelayMonitoring.Discovery(
            relay: try RelayURL("wss://Relay.Example:443"), openTime: 12, writeTime: 34, supportedNIPs: [1, 42],
            wantsLogin: true, information: "{}")
        let event = discovery.unsigned(by: monitor, now: 1_700_000_000)
        #expect(event.kind.rawValue == 30_166)
        #expect(event.createdAt == 1_700_000_000)
        #expect(event.content == "{}")
        #expect(
            event.tags == [
                Tag("d", "wss://relay.example/"), Tag("n", "clearnet"), Tag("rtt-open", "12"), Tag("rtt-write", "34"),
                Tag("N", "1"), Tag("N", "42"), Tag("R", "auth"),
            ])
    }

    @Test func labelsHiddenServices() throws {
        let onion = RelayMonitoring.Discovery(relay: try RelayURL("ws://abc.onion")).unsigned(by: monitor, now: 1)
        #expect(onion.tags == [Tag("d", "ws://abc.onion/"), Tag("n", "tor"), Tag("R", "!auth")])
        #expect(onion.content == "")
    }

    @Test func monitorAnnouncementListsItsChecks() {
        let event = RelayMonitoring.announcement(
            by: monitor, frequency: 3600, timeout: 5000, checks: ["open", "read"], now: 1)
        #expect(event.kind.rawValue == 10_166)
        #expect(
            event.tags == [
                Tag("frequency", "3600"), Tag("timeout", "5000"), Tag("c", "open"), Tag("c", "read"),
            ])
    }
}

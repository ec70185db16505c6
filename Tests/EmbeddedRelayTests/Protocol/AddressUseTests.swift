import NIOCore
import Nostr
import Testing

@testable import EmbeddedRelay

struct AddressUseTests {
    private let now: UnixTime = 1_700_000_000

    private func address(_ text: String) throws -> ClientAddress {
        ClientAddress(try SocketAddress(ipAddress: text, port: 1))
    }

    private func use(
        rate: Int? = nil, connections: Int? = nil, limitsLoopback: Bool = false
    ) -> AddressUse {
        var limits = RelayLimits()
        limits.messagesPerSecondPerAddress = rate
        limits.connectionsPerAddress = connections
        limits.limitsLoopback = limitsLoopback
        return AddressUse(limits)
    }

    @Test func limitsConnectionsOfOneAddress() throws {
        var use = use(connections: 2)
        let one = try address("192.0.2.1")
        #expect((0..<3).map { _ in use.connect(one, now: now) } == [true, true, false])
        let isOtherAdmitted = use.connect(try address("192.0.2.2"), now: now)
        #expect(isOtherAdmitted)
        use.disconnect(one)
        #expect((0..<2).map { _ in use.connect(one, now: now) } == [true, false])
    }

    @Test func connectionsShareTheRateLimit() throws {
        var use = use(rate: 2)
        let one = try address("192.0.2.1")
        #expect((0..<2).map { _ in use.connect(one, now: now) } == [true, true])
        #expect((0..<5).map { _ in use.consumeMessage(one, now: now) } == [true, true, true, true, false])
        #expect((0..<3).map { _ in use.consumeMessage(one, now: now + 1) } == [true, true, false])
    }

    @Test func reconnectingDoesNotRefillTheRate() throws {
        var use = use(rate: 1)
        let one = try address("192.0.2.1")
        let consumed = (0..<3).map { _ in
            _ = use.connect(one, now: now)
            defer { use.disconnect(one) }
            return use.consumeMessage(one, now: now)
        }
        #expect(consumed == [true, true, false])
    }

    @Test func forgetsAddressesAfterTheirBurst() throws {
        var use = use(rate: 1)
        for number in 0..<10_000 {
            let one = try address("10.0.\(number / 250).\(number % 250)")
            // A hundred a second; each exhausts its burst and disconnects.
            let time = now + Int64(number / 100)
            _ = use.connect(one, now: time)
            for _ in 0..<2 { _ = use.consumeMessage(one, now: time) }
            use.disconnect(one)
        }
        #expect(use.count <= 1_000)
    }

    @Test(arguments: ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
    func exemptsLoopbackByDefault(text: String) throws {
        let loopback = try address(text)
        var open = use(rate: 1, connections: 1)
        for _ in 0..<9 {
            let isAdmitted = open.connect(loopback, now: now)
            let isServed = open.consumeMessage(loopback, now: now)
            #expect(isAdmitted && isServed)
        }
        #expect(open.count == 0)
        var closed = use(rate: 1, connections: 1, limitsLoopback: true)
        #expect((0..<2).map { _ in closed.connect(loopback, now: now) } == [true, false])
    }

    @Test func treatsAnIPv6NetworkAsOneAddress() throws {
        #expect(try address("2001:db8:1:2::1") == address("2001:db8:1:2:ffff::9"))
        #expect(try address("2001:db8:1:2::1") != address("2001:db8:1:3::1"))
        #expect(try address("::ffff:192.0.2.1") == address("192.0.2.1"))
        #expect(try !address("2001:db8::1").isLoopback && !address("0:0:0:1::1").isLoopback)
    }
}

import Testing

@testable import NetworkAddresses

struct AddressScopeTests {
    @Test(arguments: [
        "8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0", "198.17.255.255",
        "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::1", "64:ff9b::808:808", "::ffff:8.8.8.8",
    ])
    func publicAddresses(_ text: String) {
        #expect(HostAddresses.lookUp(text).map(\.scope) == [.global])
    }

    @Test(arguments: [
        "127.0.0.1", "127.1", "0x7f.0.0.1", "2130706433", "0.0.0.0", "10.1.2.3", "100.64.0.1", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.0.0.8", "198.18.0.1", "203.0.113.7", "224.0.0.1",
        "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12:3456::1", "ff02::1", "2001:db8::1",
        "2002:7f00:1::", "2001::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "::127.0.0.1",
        "64:ff9b:1::1", "fec0::1",
    ])
    func localAddresses(_ text: String) {
        #expect(HostAddresses.lookUp(text).map(\.scope) == [.local])
    }

    @Test func invalidAddressesCountAsLocal() {
        #expect(AddressScope([8, 8, 8]) == .local)
        #expect(AddressScope([]) == .local)
        #expect(AddressScope([UInt8](repeating: 0x20, count: 17)) == .local)
    }

    @Test func unknownHostNamesHaveNoAddress() async {
        #expect(await HostAddresses.of("no-such-host.invalid") == [])
    }
}

import Appliance
import LiveTesting
import Testing

@testable import EpicuraBot

struct PairingLineTests {
    @Test func requestsHaveTheDocumentedForm() throws {
        let scan = try #require(PairingRequest(.startScan))
        #expect(try scan.line() == "{\"do\":\"scan\",\"service\":\"\(GATTProfile.service)\"}")
        let connect = try #require(PairingRequest(.connect(address: "C0:FF:EE:00:00:01")))
        #expect(try connect.line() == #"{"address":"C0:FF:EE:00:00:01","do":"connect"}"#)
        let write = try #require(PairingRequest(.write([1, 0, 1])))
        let written = "{\"characteristic\":\"\(GATTProfile.credentials)\",\"do\":\"write\",\"value\":\"AQAB\"}"
        #expect(try write.line() == written)
        #expect("\(write)" == "PairingRequest(write)")
        #expect(PairingRequest(.askForCredentials(lastFailure: nil)) == nil)
    }

    @Test func eventsBecomeInputs() {
        let found = PairingEvent.input(#"{"event":"found","address":"A","name":"Pot","signal":-60,"more":1}"#)
        #expect(found == .found(.init(address: "A", name: "Pot", signal: -60)))
        #expect(PairingEvent.input(#"{"event":"notified","value":"AQAB"}"#) == .notified([1, 0, 1]))
        #expect(PairingEvent.input(#"{"event":"failed","request":"write","reason":"x"}"#) == .writeFailed)
        #expect(PairingEvent.input(#"{"event":"failed","request":"connect"}"#) == .disconnected)
        #expect(PairingEvent.input(#"{"event":"failed","request":"scan"}"#) == .adapterLost)
    }

    @Test(arguments: [
        "", "{", "[]", "null", #"{"event":1}"#, #"{"event":"unknown"}"#, #"{"event":"found","name":"x"}"#,
        #"{"event":"found","address":"A","signal":999}"#, #"{"event":"notified","value":"!"}"#,
        #"{"event":"discovered","mtu":23}"#, #"{"event":"failed"}"#,
        "{\"event\":\"connected\",\"name\":\"" + String(repeating: "x", count: 8_192) + "\"}",
    ])
    func malformedLinesMeanNothing(_ line: String) {
        #expect(PairingEvent.input(line) == nil)
    }
}

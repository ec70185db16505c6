import PikaCore
import Testing

@testable import Daemon

@Suite struct PendingRequestsTests {
    @Test func sameKeyGivesTheSameRequest() {
        var requests = PendingRequests(scope: "s")
        let first = requests.open(key: "k", Promise())
        let (again, second, third) = (
            requests.open(key: "k", Promise()), requests.open(Promise()), requests.open(Promise())
        )
        #expect(again == first && second != third)
        let (closed, repeated) = (requests.close(first), requests.close(first))
        #expect(closed != nil && repeated == nil)
    }

    @Test func returnsWaitsThatAreMet() {
        var requests = PendingRequests(scope: "s")
        _ = requests.wait(Promise()) { $0.rev == 1 }
        let cancelled = requests.wait(Promise()) { $0.rev == 0 }
        requests.cancelWait(cancelled)
        let met = requests.met(by: AppState())
        #expect(met.isEmpty)
        #expect(requests.end().waits.count == 1)
    }

    @Test func waitsForDeliveryUpToAnEvent() {
        var requests = PendingRequests(scope: "s")
        #expect(requests.waitForDelivery(upTo: 0, Promise()) == nil)
        #expect(requests.waitForDelivery(upTo: 2, Promise()) != nil)
        let (early, late) = (requests.delivered(1), requests.delivered(3))
        #expect(early.isEmpty && late.count == 1)
        #expect(requests.waitForDelivery(upTo: 2, Promise()) == nil)
    }
}

import BotKit
import LiveTesting
import Testing

@testable import BotDispatch
@testable import PikaCore

private struct Broken: Error {}

@Suite(.bounded)
struct ProbeTests {
    private static let bot = ListedBot {
        OnProbe("gate") { request, context in
            guard request.target == "known" else { throw BotError(.probeRefused, "only known") }
            context.send("dropped", to: "chat")
            return ProbeAnswer(isSuccess: true, samples: [MetricSample("probe_duration_seconds", [:], 2)])
        }
        OnProbe("broken") { _, _ in throw Broken() }
        OnProbe("slow") { _, context in
            for await _ in AsyncStream<Never>(Never.self, { _ in }) {}
            return ProbeAnswer(isSuccess: true)
        }
    }

    private func ask(_ module: String, _ target: String = "known") -> ProbeRequest {
        ProbeRequest(module: module, target: target, timeout: .milliseconds(1))
    }

    @Test func answersProbeWithoutSending() async {
        await Stage(Self.bot).run { stage in
            let outcome = await stage.dispatcher.probe(ask("gate"))
            #expect(
                outcome == .answered(ProbeAnswer(isSuccess: true, samples: [.init("probe_duration_seconds", [:], 2)])))
            // The first core operation is the pause below, so the probe has sent nothing.
            stage.dispatcher.pause("bot0")
            #expect(await stage.core.performed(1).first?.request == "\(Admission.scope)/pause")
        }
    }

    @Test func refusesTargetOutsideSettings() async {
        await Stage(Self.bot).run { stage in
            #expect(await stage.dispatcher.probe(ask("gate", "other")) == .refused("only known"))
        }
    }

    @Test func failingHandlerFailsProbe() async {
        await Stage(Self.bot).run { stage in
            #expect(await stage.dispatcher.probe(ask("broken")) == .answered(ProbeAnswer(isSuccess: false)))
        }
    }

    @Test func slowHandlerFailsProbe() async {
        await Stage(Self.bot).run { stage in
            async let outcome = stage.dispatcher.probe(ask("slow"))
            await stage.clock.waitForSleeper()
            stage.clock.advance(by: .milliseconds(1))
            #expect(await outcome == .answered(ProbeAnswer(isSuccess: false)))
        }
    }

    @Test func pausedOrUnknownModulesDoNotAnswer() async {
        await Stage(Self.bot).run { stage in
            #expect(await stage.dispatcher.probe(ask("other")) == .unknownModule(["broken", "gate", "slow"]))
            stage.dispatcher.pause("bot0")
            #expect(await stage.dispatcher.probe(ask("gate")) == .unknownModule([]))
        }
    }
}

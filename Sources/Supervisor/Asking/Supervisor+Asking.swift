package import Foundation

extension Supervisor {
    /// Sends a worker the question `{"ask":…,"id":…}`, with the parameters beside them, and returns the JSON of its
    /// result.
    ///
    /// - Parameter limit: deadline for the answer.
    /// - Throws: `SupervisorError.Code.unknownWorker`, `SupervisorError.Code.notRunning`,
    ///   `SupervisorError.Code.tooManyAsks`, `SupervisorError.Code.noAnswer` on a timeout, if the worker ends first
    ///   or if the asker is cancelled, and `SupervisorError.Code.refused` with the worker's message.
    package func ask(
        _ worker: String, _ ask: String, _ parameters: [String: ControlValue] = [:],
        within limit: Duration = .seconds(10)
    ) async throws(SupervisorError) -> Data {
        try await self.ask(try index(of: worker), ask, parameters, within: limit).get()
    }

    /// Sends a health check and waits until the worker answers or ends.
    func checkHealth(_ worker: Int) async -> PendingAsks.Outcome {
        await ask(worker, "health", ["signOfLife": true], within: nil, isHealthCheck: true)
    }

    private func ask(
        _ worker: Int, _ ask: String, _ parameters: [String: ControlValue], within limit: Duration?,
        isHealthCheck: Bool = false
    ) async -> PendingAsks.Outcome {
        let name = machine.name(worker)
        guard let control = controls[worker] else {
            return .failure(SupervisorError(.notRunning, "\(name) is not running"))
        }
        guard let id = asks.nextID(isHealthCheck: isHealthCheck) else {
            let count = PendingAsks.maximum
            return .failure(SupervisorError(.tooManyAsks, "\(count) questions are already in flight"))
        }
        var line = parameters
        // Questions of control clients are not health checks.
        line["signOfLife"] = isHealthCheck ? true : nil
        line["ask"] = .string(ask)
        line["id"] = .integer(id)
        let json = ControlValue.object(line).json
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                asks.add(id, worker: worker, isHealthCheck: isHealthCheck, continuation)
                if !control.send(json) {
                    let error = SupervisorError(.noAnswer, "\(name) does not read its input")
                    asks.answer(id, .failure(error))
                } else if let limit {
                    nextStep.yield(.expire(ask: id, of: name, after: limit))
                }
            }
        } onCancel: {
            nextStep.yield(.abandon(ask: id))
        }
    }

    func expire(_ id: Int64, of worker: String, after limit: Duration) async {
        guard (try? await clock.sleep(for: limit)) != nil else { return }
        asks.answer(id, .failure(SupervisorError(.noAnswer, "\(worker) did not answer within \(limit)")))
    }

    func abandon(_ id: Int64) { asks.answer(id, .failure(SupervisorError(.noAnswer, "the request was cancelled"))) }

    func received(_ answer: WorkerLine.Answer, from worker: Int) {
        switch answer.outcome {
        case .success(let result): asks.answer(answer.id, from: worker, .success(result))
        case .failure(let refusal):
            asks.answer(answer.id, from: worker, .failure(SupervisorError(.refused, refusal.text)))
        }
    }
}

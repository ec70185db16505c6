import Foundation

/// The executable of this process.
package enum Executable {
    package static let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
    /// The name of the command.
    package static let name = URL(fileURLWithPath: path).lastPathComponent
}

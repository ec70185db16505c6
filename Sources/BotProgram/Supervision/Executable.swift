import Foundation

/// The program that runs now.
package enum Executable {
    package static let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
    /// What people call it by.
    package static let name = URL(fileURLWithPath: path).lastPathComponent
}
